// The table of cases: filtered, sorted, and never more rows than are asked for, since there may be a hundred thousand.

const PAGE_OF_CASES = 200;

const CASE_COLUMNS = [
  { title: "Verdict", key: (cases, row) => cases.verdict[row] },
  { title: "Scenario", term: "scenario", key: (cases, row) => cases.scenarios[cases.scenario[row]] },
  { title: "Variant", term: "variant", key: (cases, row) => cases.variants[cases.variant[row]] },
  { title: "Run", term: "run", key: (cases, row) => cases.run[row], flush: true },
  { title: "Duration (ms)", term: "duration", key: (cases, row) => cases.ms[row], flush: true },
  { title: "Memory (MB)", term: "memory", key: (cases, row) => cases.mb[row], flush: true },
];

// The order of severity, by the index of the verdict in the data: passed, failed, error, skipped, inconclusive.
const SEVERITY = [4, 0, 1, 3, 2];

const oneDigit = (value) => value.toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

class CaseTable {
  constructor(cases) {
    this.cases = cases;
    this.total = cases.run.length;
    this.text = "";
    this.verdicts = new Set(cases.verdicts.keys());
    this.column = 0;
    this.direction = 1;
    this.shown = PAGE_OF_CASES;
    this.makeHead();
    this.makeVerdicts();
    byId("case-text").addEventListener("input", (event) => this.filterBy(event.target.value));
    byId("case-more").addEventListener("click", () => this.showMore());
    this.update();
  }

  makeHead() {
    this.heads = CASE_COLUMNS.map(({ title, term, flush }, index) => {
      const button = make("button", { type: "button", "data-term": term }, title);
      button.addEventListener("click", () => this.sortBy(index));
      return make("th", { scope: "col", class: flush ? "number" : null }, button);
    });
    byId("case-table").tHead.append(make("tr", {}, ...this.heads));
  }

  makeVerdicts() {
    const counts = this.cases.verdicts.map(() => 0);
    for (const verdict of this.cases.verdict) counts[verdict] += 1;
    const order = [...counts.keys()].sort((a, b) => SEVERITY[a] - SEVERITY[b]);
    for (const verdict of order.filter((each) => counts[each])) {
      const word = this.cases.verdicts[verdict];
      const box = make("input", { type: "checkbox", value: word, checked: "" });
      box.addEventListener("change", () => this.allow(verdict, box.checked));
      byId("case-verdicts").append(make("label", { "data-term": word }, box, `${word} (${number(counts[verdict])})`));
    }
  }

  filterBy(text) {
    this.text = text.trim().toLowerCase();
    this.shown = PAGE_OF_CASES;
    this.update();
  }

  allow(verdict, allowed) {
    if (allowed) this.verdicts.add(verdict);
    else this.verdicts.delete(verdict);
    this.shown = PAGE_OF_CASES;
    this.update();
  }

  sortBy(column) {
    this.direction = column === this.column ? -this.direction : 1;
    this.column = column;
    this.update();
  }

  showMore() {
    const first = this.shown;
    this.shown += PAGE_OF_CASES;
    this.update();
    // Whoever went on with the keyboard goes on where the new rows begin.
    const row = byId("case-table").tBodies[0].rows[first];
    if (row) {
      row.tabIndex = -1;
      row.focus({ preventScroll: true });
    }
  }

  /** Lower-case text of every case, made when first something is looked for. */
  haystacks() {
    const { cases } = this;
    const scenarios = cases.scenarios.map((name) => name.toLowerCase());
    const variants = cases.variants.map((name) => name.toLowerCase());
    this.texts ??= cases.run.map((_, row) => {
      const note = cases.note[row];
      return `${scenarios[cases.scenario[row]]}/${variants[cases.variant[row]]}${note ? ` ${note.toLowerCase()}` : ""}`;
    });
    return this.texts;
  }

  matching() {
    const texts = this.text ? this.haystacks() : null;
    const rows = [];
    for (let row = 0; row < this.total; row += 1) {
      if (this.verdicts.has(this.cases.verdict[row]) && (!texts || texts[row].includes(this.text))) rows.push(row);
    }
    return this.sorted(rows);
  }

  sorted(rows) {
    const { cases, direction } = this;
    const key = this.column === 0 ? (_, row) => SEVERITY[cases.verdict[row]] : CASE_COLUMNS[this.column].key;
    const keys = [];
    for (const row of rows) keys[row] = key(cases, row);
    // By code units: an order of languages would take seconds here.
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return rows.sort((a, b) => direction * compare(keys[a], keys[b]) || a - b);
  }

  update() {
    const rows = this.matching();
    const shown = rows.slice(0, this.shown);
    byId("case-table").tBodies[0].replaceChildren(...shown.map((row) => this.makeRow(row)));
    this.heads.forEach((head, index) => {
      if (index === this.column) head.setAttribute("aria-sort", this.direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    const left = rows.length - shown.length;
    byId("case-more").hidden = left === 0;
    byId("case-more").textContent = `${number(left)} more: show ${number(Math.min(left, PAGE_OF_CASES))}`;
    byId("case-status").textContent = this.status(rows.length, shown.length);
  }

  status(matching, shown) {
    const { more, points } = this.cases;
    const parts = [`${number(matching)} of ${plural(this.total, "case")} match`];
    if (shown < matching) parts[0] += `, ${number(shown)} shown`;
    if (more) parts.push(`${number(more)} more are in report.json`);
    if (points) parts.push(`${plural(points, "point")} of the sweep passed besides`);
    return parts.join("; ");
  }

  makeRow(row) {
    const { cases } = this;
    const [scenario, variant] = [cases.scenarios[cases.scenario[row]], cases.variants[cases.variant[row]]];
    const verdict = cases.verdicts[cases.verdict[row]];
    const memory = cases.mb[row] || "";
    return make(
      "tr",
      {},
      make("td", {}, make("span", { class: `verdict ${verdict}` }, verdict)),
      make("td", {}, make("div", { class: "name" }, scenario), ...this.makeNote(row)),
      make("td", {}, make("div", { class: "name" }, variant)),
      // The words are for a narrow window, where there are no columns.
      make("td", { class: "number", "data-word": "run" }, number(cases.run[row])),
      make("td", { class: "number", "data-unit": "ms" }, oneDigit(cases.ms[row])),
      make("td", { class: "number", "data-unit": memory && "MB" }, memory && oneDigit(memory)),
    );
  }

  /** What is to be said of a case that did not pass, with the way to its finding. */
  makeNote(row) {
    const note = this.cases.note[row];
    if (!note) return [];
    const finding = this.cases.finding[row];
    const what = finding === undefined ? note : make("a", { href: `#${this.cases.anchors[finding]}` }, note);
    return [make("div", { class: "note" }, what)];
  }
}
