// The plots below the lanes and the one of a sweep, drawn by Chart.js, on the same stretch of time as the lanes.

const MOST_OBJECTS = 12;
const OBJECT_HEIGHT = 44;

const LATENCIES = {
  wakeup: ["Wakeup to the next drain", "triangle"],
  release: ["Destructor to the next release", "circle"],
  callback: ["Duration of destructors", "rect"],
};

const hasCharts = () => typeof Chart !== "undefined";

/** What the style sheet says, for canvases. Read anew when the light changes. */
function readInk() {
  const names = ["ink", "soft", "line", "sheet", "bad", "wake", "drain", "callback", "area", "call", "bad-back"];
  return Object.fromEntries(names.map((name) => [name, colour(`--${name}`)]));
}

/** Draws the lines of faults and findings across a plot, as across the lanes. */
function rulesPlugin(rules, ink) {
  return {
    id: "rules",
    afterDatasetsDraw({ ctx, chartArea, scales }) {
      ctx.save();
      ctx.strokeStyle = ink.bad;
      for (const rule of rules) {
        const x = scales.x.getPixelForValue(rule.x0);
        if (x < chartArea.left || x > chartArea.right) continue;
        ctx.setLineDash(rule.kind === "fault" ? [3, 3] : []);
        ctx.beginPath();
        ctx.moveTo(x, chartArea.top);
        ctx.lineTo(x, chartArea.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
  };
}

/** An axis of time without words of its own: the lanes above have them. */
function timeAxis(view, ink) {
  return {
    type: "linear",
    min: view.from,
    max: view.to,
    grid: { color: ink.line, drawTicks: false, borderColor: ink.line },
    // Room for the words at its ends would push the plot out of line with the lanes.
    afterFit: (scale) => { scale.paddingLeft = scale.paddingRight = 0; },
    ticks: {
      color: ink.soft,
      includeBounds: false,
      maxRotation: 0,
      autoSkipPadding: 24,
      callback: (value) => time(view.axis.time(value)),
      font: { size: 11 },
    },
  };
}

function valueAxis(view, ink, more = {}) {
  return {
    beginAtZero: true,
    afterFit: (scale) => { scale.width = view.gutter; },
    grid: { color: ink.line, drawTicks: false, borderColor: ink.line },
    ticks: { color: ink.soft, precision: 0, padding: 8, maxTicksLimit: 4, font: { size: 11 } },
    ...more,
  };
}

function plotOptions(view, scales, describe) {
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    layout: { padding: { right: RIGHT_EDGE, top: 4 } },
    interaction: { mode: "nearest", intersect: false, axis: "x" },
    plugins: {
      legend: { display: false },
      tooltip: { displayColors: false, callbacks: { title: () => "", label: describe } },
    },
    scales,
  };
}

/** A canvas in a box of a fixed height, with a heading, a sentence, and words for those who cannot see it. */
function placePlot(into, key, title, sentence, height, spoken) {
  const canvas = make("canvas", { role: "img", "aria-label": `${title}. ${spoken}` });
  const box = make("div", { class: "plot" }, canvas);
  box.style.height = `${height}px`;
  into.append(make("h3", {}, makeTerm(key, title)), make("p", { class: "help" }, sentence), box);
  return canvas;
}

const steps = (label, points, ink, more) => ({
  label,
  data: points,
  stepped: "before",
  borderWidth: 1.5,
  pointRadius: 0,
  fill: "origin",
  borderColor: ink.wake,
  backgroundColor: ink.area,
  ...more,
});

/** A line goes on to the end of the time that is known. */
function lasting(points, end) {
  const last = points.at(-1);
  return last && last.x < end ? [...points, { x: end, y: last.y }] : points;
}

/** The objects and their counts over time: those that the finding is about come first, then those that changed last. */
function countsOfObjects(moments, about) {
  const counts = new Map();
  for (const moment of moments) {
    if (moment.references === null || !moment.object) continue;
    if (!counts.has(moment.object)) counts.set(moment.object, []);
    counts.get(moment.object).push({ x: moment.x1, y: moment.references });
  }
  for (const points of counts.values()) points.sort((a, b) => a.x - b.x);
  const isAbout = ([name]) => (about.has(name) ? 1 : 0);
  return [...counts].sort((a, b) => isAbout(b) - isAbout(a) || b[1].at(-1).x - a[1].at(-1).x);
}

const endOf = (moments) => moments.reduce((last, moment) => Math.max(last, moment.x1), 0);

/** Reference counts as small plots under each other, one a user object. What the finding is about and is held at the
 * end is red; others may be held with good reason. */
function plotReferences(into, moments, rules, view, ink, about) {
  const all = countsOfObjects(moments, about);
  const lived = ([name, points]) => about.has(name) || (points[0].x <= view.to && points.at(-1).x >= view.from);
  const there = all.filter((object) => lived(object) || object[1].at(-1).y > 0);
  const objects = (there.length ? there : all).slice(0, MOST_OBJECTS);
  if (!objects.length) return null;
  const end = endOf(moments);
  const scales = { x: timeAxis(view, ink) };
  const datasets = objects.map(([name, points], index) => {
    const most = Math.max(1, ...points.map((point) => point.y));
    const bad = about.has(name) && points.at(-1).y > 0;
    scales[`y${index}`] = valueAxis(view, ink, objectAxis(name, most, bad, ink, view, objects.length - index));
    const paint = bad ? { borderColor: ink.bad, backgroundColor: ink["bad-back"] } : {};
    return steps(name, lasting(points, end), ink, { yAxisID: `y${index}`, ...paint });
  });
  const left = all.length - objects.length;
  const sentence = heldSentence(all, about);
  const more = left ? ` ${plural(left, "more object")} of other times in the table.` : "";
  const height = objects.length * OBJECT_HEIGHT + 34;
  const canvas = placePlot(into, "references", "References of each user object", sentence + more, height, sentence);
  const describe = (item) =>
    `${item.dataset.label}: ${plural(item.parsed.y, "reference")} at ${time(view.axis.time(item.parsed.x))}`;
  const options = plotOptions(view, scales, describe);
  return new Chart(canvas, { type: "line", data: { datasets }, options, plugins: [rulesPlugin(rules, ink)] });
}

function heldSentence(objects, about) {
  const held = objects.filter(([, points]) => points.at(-1).y > 0).map(([name]) => name);
  const list = (names) => names.slice(0, 8).join(", ") + (names.length > 8 ? ` and ${names.length - 8} more` : "");
  const bad = held.filter((name) => about.has(name));
  const other = held.filter((name) => !about.has(name));
  const parts = [];
  if (bad.length) parts.push(`Held at the end, and the finding is about it, in red: ${list(bad)}.`);
  if (other.length) parts.push(`Held at the end of the record, which may be right: ${list(other)}.`);
  return parts.join(" ") || "None is held at the end.";
}

function objectAxis(name, most, bad, ink, view, weight) {
  const letters = Math.floor((view.gutter - 34) / 6.2);
  const short = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
  return {
    stack: "objects",
    stackWeight: 1,
    weight,
    min: 0,
    max: most * 1.25,
    afterBuildTicks: (scale) => { scale.ticks = [{ value: 0 }, { value: most }]; },
    grid: { color: ink.line, drawTicks: false, borderColor: ink.line, lineWidth: ({ tick }) => (tick?.value ? 0 : 1) },
    ticks: {
      color: ({ tick }) => (tick?.value && bad ? ink.bad : ink.soft),
      padding: 8,
      autoSkip: false,
      font: { size: 11 },
      callback: (value) => (value ? `${short}  ${value}` : ""),
    },
  };
}

function plotQueue(into, moments, rules, view, ink) {
  const known = moments.filter((moment) => moment.queue !== null);
  const points = known.map((moment) => ({ x: moment.x1, y: moment.queue }));
  if (!points.length) return null;
  points.sort((a, b) => a.x - b.x);
  const most = points.reduce((highest, point) => Math.max(highest, point.y), 0);
  if (!most) {
    const says = make("p", { class: "help" }, "It was empty at each moment that tells its length.");
    into.append(make("h3", {}, makeTerm("queue", "Length of the queue")), says);
    return null;
  }
  const sentence = `Cleanups or pending calls that waited; at most ${number(most)}.`;
  const canvas = placePlot(into, "queue", "Length of the queue", sentence, 150, sentence);
  const scales = { x: timeAxis(view, ink), y: valueAxis(view, ink) };
  const describe = (item) => `${item.parsed.y} in the queue at ${time(view.axis.time(item.parsed.x))}`;
  const options = plotOptions(view, scales, describe);
  const data = { datasets: [steps("queue", lasting(points, endOf(moments)), ink)] };
  return new Chart(canvas, { type: "line", data, options, plugins: [rulesPlugin(rules, ink)] });
}

const waits = (latencies) => Object.keys(LATENCIES).filter((name) => latencies[name]?.length);

function plotLatencies(into, latencies, rules, view, ink) {
  const names = waits(latencies);
  if (!names.length) return null;
  const sentence = "How long things waited, by when they began to, on a scale of logarithms.";
  const canvas = placePlot(into, "latency", "Latency", sentence, 210, "The table below has the figures.");
  const paints = { wakeup: ink.wake, release: ink.drain, callback: ink.callback };
  const datasets = names.map((name) => ({
    label: LATENCIES[name][0],
    data: latencies[name].map(([at, y]) => ({ x: view.axis.place(at), y: Math.max(y, 0.01) })),
    pointStyle: LATENCIES[name][1],
    pointRadius: 4,
    borderWidth: 1.5,
    borderColor: paints[name],
    backgroundColor: name === "release" ? "transparent" : paints[name],
  }));
  const decade = (value) => Number.isInteger(Math.log10(value));
  const decades = (value) => (decade(value) ? time(value) : null);
  const ticksOfTime = { color: ink.soft, padding: 8, font: { size: 11 }, callback: decades };
  // Half a decade of room, so that no sign is cut in two.
  const values = datasets.flatMap((set) => set.data.map((point) => point.y));
  const ends = { min: values.reduce((a, b) => Math.min(a, b)) / 2, max: values.reduce((a, b) => Math.max(a, b)) * 2 };
  const y = valueAxis(view, ink, { type: "logarithmic", ticks: ticksOfTime, ...ends });
  const describe = (item) => `${item.dataset.label}: ${time(item.parsed.y)}, at ${time(view.axis.time(item.parsed.x))}`;
  const options = plotOptions(view, { x: timeAxis(view, ink), y }, describe);
  options.plugins.legend = {
    display: true,
    align: "start",
    labels: { color: ink.soft, usePointStyle: true, boxHeight: 7, padding: 16, font: { size: 12 } },
  };
  return new Chart(canvas, { type: "scatter", data: { datasets }, options, plugins: [rulesPlugin(rules, ink)] });
}

/** The figures of the latencies: never only a picture. */
function latencyTable(latencies) {
  const rows = waits(latencies).map((name) => {
    const sorted = latencies[name].map(([, us]) => us).sort((a, b) => a - b);
    const at = (share) => time(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
    return [LATENCIES[name][0], number(sorted.length), at(0.5), at(0.95), time(sorted.at(-1))];
  });
  const headings = ["Wait", "Count", makeTerm("median", "Median"), makeTerm("percentile", "95 of 100"), "Longest"];
  return makeTable("Latencies", headings, rows, [1, 2, 3, 4]);
}

/** The tables that stand in for the plots in a page without the library. */
function referenceTable(moments, about) {
  const rows = countsOfObjects(moments, about)
    .slice(0, 100)
    .map(([name, points]) => [name, number(Math.max(...points.map((point) => point.y))), number(points.at(-1).y)]);
  const headings = [makeTerm("object", "Object"), "Most", makeTerm("held", "At the end")];
  return makeTable("References of each user object", headings, rows, [1, 2]);
}

/** The points of a sweep, by operation: bars, before and after the call took effect. */
function plotOperations(into, operations, ink) {
  into.replaceChildren();
  if (!hasCharts() || !operations.scenario.length) return null;
  const sentence = "A fault came before the call, or after it took effect.";
  const height = operations.scenario.length * 26 + 80;
  const more = operations.more ? ` ${plural(operations.more, "more operation")} in the table.` : "";
  const spoken = "The table below has the figures.";
  const canvas = placePlot(into, "points", "Points of each operation", sentence + more, height, spoken);
  const bars = (label, data, paint) => ({
    label,
    data,
    backgroundColor: paint,
    borderColor: ink.drain,
    borderWidth: 1,
  });
  const narrow = into.clientWidth < 560;
  const name = (_, index) => {
    const text = operations.scenario[index];
    return narrow && text.length > 18 ? `${text.slice(0, 17)}…` : text;
  };
  const grid = { color: ink.line, borderColor: ink.line, drawTicks: false };
  const axis = (own) => ({ stacked: true, grid, ...own });
  const labels = { color: ink.soft, boxWidth: 14, boxHeight: 10, font: { size: 12 } };
  return new Chart(canvas, {
    type: "bar",
    data: {
      labels: operations.scenario,
      datasets: [
        bars("before", operations.before, ink.drain),
        bars("after", operations.after, ink.area),
      ],
    },
    options: {
      indexAxis: "y",
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      plugins: { legend: { align: "start", labels } },
      scales: {
        x: axis({ ticks: { color: ink.soft, precision: 0, font: { size: 11 } } }),
        y: axis({ grid: { display: false }, ticks: { color: ink.soft, font: { size: 11 }, callback: name } }),
      },
    },
  });
}
