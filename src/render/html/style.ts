/** The page's style sheet. Light and dark by what the reader's system asks for; nothing is loaded. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --text: #1f2328; --faint: #59636e; --back: #ffffff; --raised: #f6f8fa; --line: #d1d9e0; --soft: #eaeef2;
  --link: #0550ae; --create: #116329; --update: #7d4e00; --rediscover: #0a5c73; --disable: #6639ba; --error: #b3261e;
  --added: #dafbe1; --removed: #ffebe9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --faint: #9da7b1; --back: #0d1117; --raised: #161b22; --line: #3d444d; --soft: #21262d;
    --link: #79b8ff; --create: #56d364; --update: #e3b341; --rediscover: #56d4dd; --disable: #bc8cff; --error: #ff7b72;
    --added: #12361f; --removed: #4c1a1d;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1.25rem 1.5rem 4rem; background: var(--back); color: var(--text);
  font: .875rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.3; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
h3 { margin: 1rem 0 .25rem; font-size: .875rem; }
h3 span { margin-left: .5rem; color: var(--faint); font-weight: 400; }
p { margin: .25rem 0; }
a { color: var(--link); }
code, pre, .mono { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .25rem 0; padding: .5rem .75rem; background: var(--raised); border-radius: .375rem;
  white-space: pre-wrap; }
.faint { color: var(--faint); }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
.counts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .75rem 0 0; padding: 0; list-style: none; }
.counts li { color: var(--faint); }
.counts b { margin-right: .35rem; font-size: 1.125rem; color: var(--text); }
.counts .create b { color: var(--create); } .counts .update b { color: var(--update); }
.counts .rediscover b { color: var(--rediscover); }
form { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center;
  padding: .6rem 0; border-bottom: 1px solid var(--line); background: var(--back); }
form[hidden] { display: none; }
form label { display: inline-flex; gap: .35rem; align-items: center; color: var(--faint); }
fieldset { display: contents; }
legend { position: absolute; left: -99rem; }
fieldset label { padding: .2rem .55rem; border: 1px solid var(--line); border-radius: 1rem; cursor: pointer; }
fieldset label:has(:checked) { border-color: currentColor; background: var(--raised); }
fieldset input { margin: 0; accent-color: currentColor; }
input[type=search] { flex: 1 1 10rem; min-width: 9rem; max-width: 26rem; }
input[type=search], select, button { padding: .25rem .55rem; border: 1px solid var(--line); border-radius: .375rem;
  background: var(--raised); color: var(--text); font: inherit; }
select { max-width: 9rem; }
button { cursor: pointer; }
::placeholder { color: var(--faint); opacity: 1; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
#status { margin: .5rem 0 0; }
#more { margin-top: 1rem; }
details > summary { cursor: pointer; }
.change { border-bottom: 1px solid var(--soft); scroll-margin-top: 6rem; }
.change > summary { display: grid; grid-template-columns: 1rem 6.25rem auto minmax(0, 1fr); gap: 0 .5rem;
  align-items: baseline; padding: .22rem .25rem; list-style: none; }
.change > summary::-webkit-details-marker { display: none; }
.change > summary::before { content: "▸"; color: var(--faint); }
.change[open] > summary::before { content: "▾"; }
.change > summary:hover, .change[open] > summary { background: var(--raised); }
summary .action { font-weight: 600; white-space: nowrap; }
summary .preview { overflow: hidden; padding-left: .5rem; color: var(--faint); text-overflow: ellipsis;
  white-space: nowrap; }
.change[open] > summary .preview { visibility: hidden; }
.preview b { margin-right: .35rem; font-weight: 400; color: var(--text); }
.preview > span + span::before { content: " · "; }
.inside { padding: .35rem .25rem 1rem 2rem; }
.inside > p { margin-bottom: .35rem; }
.create { color: var(--create); } .update { color: var(--update); }
.rediscover { color: var(--rediscover); } .disable { color: var(--disable); }
form .create { color: var(--create); } form .update { color: var(--update); }
form .rediscover { color: var(--rediscover); } form .disable { color: var(--disable); }
table { width: 100%; margin-bottom: .5rem; border-collapse: collapse; }
th, td { padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--soft); text-align: left; vertical-align: top; }
th { width: 19rem; font-weight: 400; }
td > div { display: flex; flex-wrap: wrap; gap: .1rem .5rem; }
td > div, td > p { margin: 0; white-space: pre-wrap; }
td > p { max-width: 60rem; padding: .35rem .6rem; border-left: 3px solid var(--line); }
ins, del { border-radius: .2rem; padding: 0 .15rem; text-decoration: none; }
ins { background: var(--added); box-shadow: inset 0 -1px var(--create); }
del { background: var(--removed); text-decoration: line-through; text-decoration-color: var(--error); }
.call { margin: .15rem 0; }
.call > summary { color: var(--faint); }
.call > summary code { color: var(--text); }
.inside h4 { margin: .6rem 0 .1rem; color: var(--faint); font-size: .8125rem; font-weight: 400; }
.inside ul { margin: 0; padding-left: 1.25rem; }
.graph { overflow-x: auto; padding: .25rem 0; }
svg rect { fill: var(--raised); stroke: var(--line); }
svg a:hover rect { stroke: var(--link); }
svg text { fill: var(--text); font: 11px ui-monospace, monospace; }
svg path { fill: none; stroke: var(--faint); }
.diagnostic { margin: .35rem 0; padding: .35rem .75rem; border-left: .25rem solid; background: var(--raised);
  border-radius: 0 .375rem .375rem 0; }
.diagnostic * { color: var(--text); } .diagnostic strong { color: inherit; } .diagnostic code { margin-left: .5rem; }
.diagnostic code, .diagnostic pre { color: var(--faint); }
.diagnostic pre { margin: .25rem 0 0; padding: 0; }
.diagnostic.error { color: var(--error); border-color: var(--error); }
.diagnostic.warning { color: var(--update); border-color: var(--update); }
@media (max-width: 48rem) {
  body { padding: 1rem .75rem 3rem; }
  form { position: static; }
  .change { scroll-margin-top: .5rem; }
  .change > summary { grid-template-columns: 1rem auto minmax(0, 1fr); }
  summary .preview { grid-column: 2 / -1; padding-left: 0; }
  .change[open] > summary .preview { display: none; }
  .inside { padding-left: 1.25rem; }
  table, tbody, tr, th, td { display: block; width: auto; }
  th { padding-bottom: 0; }
  td { border: 0; }
}
@media print { form, .skip, #more { display: none; } }
`;
