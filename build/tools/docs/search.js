const field = document.getElementById('search');
const found = document.getElementById('found');
const root = document.body.dataset.root;
for (const s of sections) s.low = [s.p, s.h, s.x].map((t) => t.toLowerCase());

// score is 0 for a section that lacks a word.
function score(s, words) {
  let sum = 0;
  for (const w of words) {
    const at = (s.low[0].includes(w) ? 8 : 0) + (s.low[1].includes(w) ? 20 : 0) + Math.min(s.low[2].split(w).length - 1, 5);
    if (!at) return 0;
    sum += at;
  }
  return sum;
}

function excerpt(s, word) {
  const at = Math.max(0, s.low[2].indexOf(word) - 60);
  return (at ? '… ' : '') + s.x.slice(at, at + 200);
}

field.addEventListener('input', () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.className = words.length ? 'on' : '';
  if (!words.length) return;
  const hits = sections.map((s) => [score(s, words), s]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, 30);
  const title = document.createElement('h1');
  title.textContent = hits.length ? 'Results' : 'No results';
  found.append(title);
  for (const [, s] of hits) {
    const p = document.createElement('p');
    const a = document.createElement('a');
    a.href = root + s.u;
    a.textContent = s.p === s.h ? s.p : s.p + ' › ' + s.h;
    p.append(a, document.createElement('br'), excerpt(s, words[0]));
    found.append(p);
  }
});
document.addEventListener('click', (e) => { if (e.target.closest('#found a')) field.value = '', found.className = ''; });
