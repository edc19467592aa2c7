/** The page's style sheet: light or dark as the reader's system asks for; red is only for harm. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --text: #1f2328; --faint: #59636e; --back: #ffffff; --raised: #f6f8fa; --line: #d1d9e0; --soft: #eaeef2;
  --link: #0550ae; --create: #116329; --update: #7d4e00; --rediscover: #0a5c73; --harm: #b3261e;
  --harmed: #fff1ef; --warned: #fff8e5; --added: #dafbe1; --removed: #e8ebee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --faint: #9da7b1; --back: #0d1117; --raised: #161b22; --line: #3d444d; --soft: #21262d;
    --link: #79b8ff; --create: #56d364; --update: #e3b341; --rediscover: #56d4dd; --harm: #ff8a80;
    --harmed: #2a1414; --warned: #272011; --added: #12361f; --removed: #2b323a;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1.25rem 1.5rem 4rem; background: var(--back); color: var(--text);
  font: .875rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.3; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
h3 { margin: 0; font-size: .9375rem; }
h3.group { margin: 1.25rem 0 .25rem; color: var(--faint); font-weight: 600; }
p { margin: .25rem 0; }
a { color: var(--link); }
code, pre, .mono { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .25rem 0; padding: .5rem .75rem; background: var(--raised); border-radius: .375rem;
  white-space: pre-wrap; }
kbd { padding: 0 .25rem; border: 1px solid var(--line); border-radius: .25rem; font: inherit; }
.faint, .preview, .call > summary { color: var(--faint); }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
[hidden] { display: none !important; }

.verdict { padding: .75rem 1rem; border-left: .375rem solid; border-radius: 0 .5rem .5rem 0; }
.verdict h1 { color: inherit; }
.verdict.blocked, .verdict.danger { color: var(--harm); background: var(--harmed); }
.verdict.attention { color: var(--update); background: var(--warned); }
.verdict.none { color: var(--faint); background: var(--raised); }
.about { margin: .75rem 0 0; color: var(--faint); }
.verdict > *, .diagnostic > *, .about b, .call > summary code { color: var(--text); }
.totals { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .5rem 0 0; padding: 0; list-style: none;
  color: var(--faint); }
.totals b { font-size: 1.0625rem; color: var(--text); }
.create .action, .small .create, label.create, .totals .create b { color: var(--create); }
.update .action, .small .update, label.update, .totals .update b { color: var(--update); }
.rediscover .action, .small .rediscover, label.rediscover, .totals .rediscover b { color: var(--rediscover); }
.disable .action, .problem .action, .small .disable, .small .problem, label.problem, label.disable, .totals .disable b { color: var(--harm); }
.action { font-weight: 600; white-space: nowrap; }

.rows { margin: .5rem 0 0; padding: 0; list-style: none; }
.rows > li { padding: .3rem 0; border-top: 1px solid var(--line); }
.rows > li > b { display: inline-block; min-width: 4.25rem; }
.rows .danger > b, .rows .error > b { color: var(--harm); }
.rows .caution > b { color: var(--update); }
.verdict details > summary { padding: .1rem 0; color: var(--link); }
.verdict details ul { margin: .25rem 0; padding-left: 1.25rem; }
.diagnostic { margin: .4rem 0; padding: .4rem .75rem; border-left: .25rem solid; background: var(--raised);
  border-radius: 0 .375rem .375rem 0; }
.diagnostic p code { margin-left: .35rem; }
.diagnostic pre { margin: .25rem 0 0; padding: 0; background: none; color: var(--faint); }
.diagnostic.error { border-color: var(--harm); background: var(--harmed); }
.diagnostic.error strong { color: var(--harm); }
.diagnostic.warning { border-color: var(--update); }

form { position: sticky; top: 0; z-index: 1; padding: .5rem 0; border-bottom: 1px solid var(--line);
  background: var(--back); }
.bar { display: flex; gap: .5rem; align-items: center; }
.bar + .bar { margin-top: .5rem; }
.chips, .chips fieldset { flex-wrap: wrap; }
fieldset { display: flex; gap: .5rem; margin: 0; padding: 0; border: 0; }
legend { position: absolute; left: -99rem; }
label { display: inline-flex; gap: .35rem; align-items: center; padding: .15rem .55rem; border: 1px solid var(--line);
  border-radius: 1rem; cursor: pointer; white-space: nowrap; }
label:has(:checked) { border-color: currentColor; background: var(--raised); }
label input { margin: 0; accent-color: currentColor; }
input[type=search] { flex: 1 1 6rem; min-width: 0; max-width: 30rem; }
input[type=search], select, button { padding: .25rem .55rem; border: 1px solid var(--line); border-radius: .375rem;
  background: var(--raised); color: var(--text); font: inherit; white-space: nowrap; }
select { max-width: 11rem; }
button { cursor: pointer; }
::placeholder { color: var(--faint); opacity: 1; }
:focus-visible { outline: 2px solid var(--link); outline-offset: -1px; }
#changes:focus { outline: none; }
#status { margin: .5rem 0 .25rem; }

details > summary { cursor: pointer; }
.target { border: 1px solid var(--line); border-radius: .5rem; margin: .4rem 0; scroll-margin-top: 6.5rem; }
.target > summary { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; padding: .45rem .75rem;
  list-style: none; }
.target > summary::before, .change > summary::before { content: "▸"; color: var(--faint); }
.target[open] > summary::before, .change[open] > summary::before { content: "▾"; }
summary::-webkit-details-marker { display: none; }
.target[open] > summary { border-bottom: 1px solid var(--line); }
.small { display: inline-flex; flex-wrap: wrap; gap: 0 .75rem; }
.change { border-bottom: 1px solid var(--soft); scroll-margin-top: 6.5rem; content-visibility: auto;
  contain-intrinsic-size: auto 1.75rem; }
.change:last-child { border: 0; }
.change > summary { display: grid; grid-template-columns: .75rem 6.25rem auto minmax(0, 1fr); gap: 0 .5rem;
  align-items: baseline; padding: .25rem .75rem; list-style: none; }
.change > summary:hover, .change[open] > summary { background: var(--raised); }
.change .preview { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.change[open] > summary .preview { text-overflow: clip; }
.change[open] > summary .preview > :not(.cause) { visibility: hidden; }
.preview b { font-weight: 600; }
.preview > span:not(.cause) + span::before { content: " · "; color: var(--faint); }
.preview .harm { color: var(--harm); }
.cause { margin-right: .5rem; padding: 0 .4rem; border: 1px solid var(--line); border-radius: 1rem; font-size: .75rem; }
.inside { padding: .35rem .75rem 1rem 2.25rem; }
.inside > p { margin-bottom: .35rem; }
.inside h4 { margin: .6rem 0 .1rem; color: var(--faint); font-size: .8125rem; font-weight: 400; }
.inside ul { margin: 0; padding-left: 1.25rem; }
table { width: 100%; margin-bottom: .5rem; border-collapse: collapse; }
th, td { padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--soft); text-align: left; vertical-align: top; }
th { width: 20rem; font-weight: 400; }
td > div { display: flex; flex-wrap: wrap; gap: .1rem .5rem; }
td > div, td > p { margin: 0; white-space: pre-wrap; }
td > p { max-width: 60rem; padding: .35rem .6rem; border-left: 3px solid var(--line); }
ins, del { border-radius: .2rem; padding: 0 .15rem; text-decoration: none; }
ins { background: var(--added); }
del { background: var(--removed); text-decoration: line-through; }
.harm ins { background: var(--harmed); color: var(--harm); font-weight: 600; }
tr.harm th div:first-of-type { color: var(--harm); }
.call { margin: .15rem 0; }
.graph { overflow-x: auto; padding: .25rem 0; }
svg rect { fill: var(--raised); stroke: var(--line); }
svg a:hover rect { stroke: var(--link); }
svg text { fill: var(--text); font: 11px ui-monospace, monospace; }
svg path { fill: none; stroke: var(--faint); }

@media (max-width: 48rem) {
  body { padding: .75rem .75rem 3rem; }
  .keys { display: none; }
  form { position: static; }
  .bar { flex-wrap: wrap; }
  .change > summary { grid-template-columns: .75rem auto minmax(0, 1fr); padding: .35rem .5rem; }
  .change .preview { grid-column: 2 / -1; white-space: normal; }
  .change[open] > summary .preview { display: none; }
  .inside { padding: .35rem .5rem 1rem 1.5rem; }
  table, tbody, tr, th, td { display: block; width: auto; }
  th { padding-bottom: 0; }
  td { border: 0; }
}
@media print {
  form, .skip, #status { display: none !important; }
  body { max-width: none; padding: 0; font-size: 9pt; }
  details::details-content { content-visibility: visible !important; block-size: auto !important; }
  .change { content-visibility: visible; break-inside: avoid-page; }
  .change .preview { white-space: normal; }
}
`;
