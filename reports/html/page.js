// Puts the page together: the light, the findings' filter and buttons, the table of cases, the timeline, and paper.

const THEME_KEY = "holdfast-report-theme";

/** A page that was opened as a file may not remember anything. */
function remembered(value) {
  try {
    if (value !== undefined) localStorage.setItem(THEME_KEY, value);
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null;
  }
}

const prefersDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

function setUpTheme(redraw) {
  const root = document.documentElement;
  const button = byId("theme");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark());
  const label = () => {
    button.textContent = dark() ? "Light theme" : "Dark theme";
  };
  const theme = remembered();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    remembered(root.dataset.theme);
    label();
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    label();
    redraw();
  });
  label();
}

function setUpFindings(timeline) {
  const findings = [...document.querySelectorAll("article.finding")];
  byId("finding-controls").hidden = findings.length < 2;
  let texts;
  byId("finding-text").addEventListener("input", (event) => {
    texts ??= findings.map((finding) => finding.querySelector("summary").textContent.toLowerCase());
    const wanted = event.target.value.trim().toLowerCase();
    let count = 0;
    findings.forEach((finding, index) => {
      finding.hidden = !texts[index].includes(wanted);
      count += finding.hidden ? 0 : 1;
    });
    const status = `${number(count)} of ${plural(findings.length, "finding")} match`;
    byId("finding-status").textContent = wanted ? status : "";
  });
  byId("findings").addEventListener("click", (event) => {
    const { timeline: index, finding } = event.target.dataset;
    if (index !== undefined) goToTimeline(timeline, Number(index), Number(finding));
  });
  // There may be thousands of findings; what is in one is prepared when it is opened. Such events do not bubble.
  byId("findings").addEventListener("toggle", (event) => addCopyButtons(event.target), true);
  for (const details of document.querySelectorAll("article.finding details[open]")) addCopyButtons(details);
}

function addCopyButtons(details) {
  for (const command of details.querySelectorAll(".command:not(:has(button))")) addCopyButton(command);
}

function goToTimeline(timeline, index, finding) {
  timeline.show(index, finding);
  byId("timeline").scrollIntoView();
  byId("lanes").focus({ preventScroll: true });
}

function addCopyButton(command) {
  if (!navigator.clipboard) return;
  const button = make("button", { type: "button", "aria-label": "Copy this command" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      // Not allowed here: the text can still be selected.
      getSelection().selectAllChildren(command.querySelector("code"));
    }
  });
  command.append(button);
}

/** A link opens what it leads to: a finding, a section that is folded, the entry of a word. */
function openTarget() {
  const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
  const details = target?.closest("details") ?? target?.querySelector(":scope > details");
  if (!details) return;
  target.hidden = false;
  details.open = true;
  target.scrollIntoView();
  const focused = target.matches("[tabindex]") ? target : details.querySelector("summary");
  focused.focus({ preventScroll: true });
}

/** Paper has no folds, and is white. */
function setUpPrint(timeline, redraw) {
  const root = document.documentElement;
  let closed = [];
  let theme;
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open])")];
    for (const details of closed) details.open = true;
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    redraw();
    timeline?.showTable();
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    redraw();
  });
}

function start() {
  const data = JSON.parse(byId("data").textContent);
  document.documentElement.classList.remove("no-script");
  new CaseTable(data.cases);
  const timeline = data.timelines.length ? new Timeline(data.timelines, data.more_timelines) : null;
  let bars = null;
  const drawBars = () => {
    bars?.destroy();
    bars = byId("operations-plot") ? plotOperations(byId("operations-plot"), data.operations, readInk()) : null;
  };
  const redraw = () => {
    timeline?.drawAll();
    drawBars();
  };
  byId("no-charts").hidden = hasCharts();
  setUpTheme(redraw);
  setUpTips();
  setUpFindings(timeline);
  setUpPrint(timeline, redraw);
  drawBars();
  addEventListener("hashchange", openTarget);
  openTarget();
  performance.mark("holdfast-ready");
}

start();
