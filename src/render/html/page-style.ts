/** The page's style sheet. Light and dark by what the reader's system asks for; nothing is loaded. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --text: #1f2328; --faint: #59636e; --back: #ffffff; --raised: #f6f8fa; --line: #d1d9e0; --link: #0550ae;
  --create: #116329; --update: #7d4e00; --rediscover: #0a5c73; --disable: #6639ba; --error: #b3261e;
  --added: #dafbe1; --removed: #ffebe9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --faint: #9da7b1; --back: #0d1117; --raised: #161b22; --line: #3d444d; --link: #79b8ff;
    --create: #56d364; --update: #e3b341; --rediscover: #56d4dd; --disable: #bc8cff; --error: #ff7b72;
    --added: #12361f; --removed: #4c1a1d;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.15rem; }
h3 { margin: 1rem 0 .25rem; font-size: .95rem; }
a { color: var(--link); }
code, pre, .mono { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .25rem 0; padding: .5rem .75rem; background: var(--raised); border-radius: .375rem;
  white-space: pre-wrap; }
.faint { color: var(--faint); }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
.counts { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
.counts li { min-width: 6.5rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .375rem; }
.counts b { display: block; font-size: 1.35rem; line-height: 1.2; }
form { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end;
  margin: 1.5rem 0 .5rem; padding: .75rem 0; border-bottom: 1px solid var(--line); background: var(--back); }
form label, fieldset label { display: inline-flex; gap: .35rem; align-items: center; }
form .field { flex-direction: column; align-items: start; gap: .1rem; font-size: .85rem; color: var(--faint); }
fieldset { display: flex; flex-wrap: wrap; gap: .25rem .9rem; margin: 0; padding: .25rem 0; border: 0; }
legend { float: left; margin-right: .75rem; padding: 0; font-size: .85rem; color: var(--faint); }
input[type=search] { min-width: 15rem; }
input[type=search], select, button { padding: .35rem .6rem; border: 1px solid var(--line); border-radius: .375rem;
  background: var(--raised); color: var(--text); font: inherit; }
button { cursor: pointer; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
details.change { border-bottom: 1px solid var(--line); scroll-margin-top: 9rem;
  content-visibility: auto; contain-intrinsic-size: auto 2.4rem; }
details.change > summary { display: flex; flex-wrap: wrap; gap: .1rem .75rem; padding: .4rem .25rem; cursor: pointer; }
details.change > summary::before { content: "▸"; color: var(--faint); }
details.change[open] > summary::before { content: "▾"; }
summary .action { min-width: 6.5rem; font-weight: 600; }
summary .fields { color: var(--faint); }
details.change > div { padding: 0 .25rem 1rem 1.5rem; }
.create { color: var(--create); } .update { color: var(--update); }
.rediscover { color: var(--rediscover); } .disable { color: var(--disable); }
.error { color: var(--error); } .warning { color: var(--update); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { font-size: .85rem; color: var(--faint); font-weight: 400; }
tbody th { font-weight: 400; width: 22%; }
td { width: 39%; }
td span, td div { white-space: pre-wrap; }
ins { background: var(--added); text-decoration: none; border-bottom: 2px solid var(--create); }
del { background: var(--removed); }
.graph { overflow-x: auto; }
svg rect { fill: var(--raised); stroke: var(--line); }
svg text { fill: var(--text); font: 11px ui-monospace, monospace; }
svg path { fill: none; stroke: var(--faint); }
.diagnostic { margin: .5rem 0; padding: .5rem .75rem; border: 1px solid var(--line); border-left-width: .3rem;
  border-radius: .375rem; }
.diagnostic.error { border-left-color: var(--error); } .diagnostic.warning { border-left-color: var(--update); }
.diagnostic p { margin: 0; } .diagnostic p, .diagnostic pre { color: var(--text); }
@media (max-width: 40rem) { table, tbody, tr, th, td { display: block; width: auto; } thead { display: none; } }
@media print { form, .skip { display: none; } }
`;
