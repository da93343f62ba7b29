//! The page's script: tables of the class `sorted` are sorted by their heads and filtered by words, commands are copied, and the
//! details of a nest open where a link leads to them. Without it, everything is there all the same.

pub(super) const SCRIPT: &str = "
(() => {
  const value = (row, k) => {
    const cell = row.cells[k], number = cell.dataset.v;
    return number === undefined ? cell.textContent.trim() : number === '' ? -Infinity : Number(number);
  };
  const order = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
  for (const table of document.querySelectorAll('table.sorted')) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, k) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const isUp = head.getAttribute('aria-sort') === 'descending';
        heads.forEach(other => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
        const rows = [...body.rows].sort((a, b) => order(value(a, k), value(b, k)));
        body.append(...(isUp ? rows : rows.reverse()));
      });
    });
    if (body.rows.length < 4) continue;
    const filter = document.createElement('input');
    filter.type = 'search';
    filter.className = 'filter';
    filter.placeholder = 'only rows with …';
    filter.setAttribute('aria-label', 'Only rows with these words');
    filter.addEventListener('input', () => {
      const words = filter.value.toLowerCase().split(/\\s+/);
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(word => text.includes(word));
      }
    });
    table.parentElement.before(filter);
  }
  for (const command of document.querySelectorAll('pre.command')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(command.querySelector('code').textContent);
      button.textContent = 'copied';
    });
    if (navigator.clipboard) command.append(button);
  }
  const open = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener('hashchange', open);
  open();
})();
";
