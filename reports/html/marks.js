// What is drawn of a timeline: its moments as marks, equal ones in a row folded into one, and the axis of the marks.

const LEAST_FOLD = 3; // moments that are worth a fold
// The room between two neighbouring times on an axis of even steps: of a fold, of other bars, where nothing goes on.
// The fold of many has at least this share of the whole, so that its name can be read.
const FOLD_STEP = 3;
const BAR_STEP = 1;
const GAP_STEP = 0.35;
const MANY = 20;
const SHARE_OF_MANY = 0.08;
const FOLDED_KINDS = ["call", "drain"];

/** The moments of a timeline as objects, in the order in which they began. */
function readMoments(timeline) {
  const { names } = timeline;
  return timeline.at.map((at, index) => ({
    index,
    at,
    us: timeline.us[index],
    end: at + (timeline.us[index] ?? 0),
    thread: names[timeline.thread[index]],
    kind: names[timeline.kind[index]],
    name: names[timeline.name[index]],
    result: names[timeline.result[index]],
    object: names[timeline.object[index]],
    references: timeline.references[index],
    queue: timeline.queue[index],
  }));
}

/** What findings of the timeline are about: the index of a moment, the first to be seen, the objects. */
function readFindings(timeline) {
  const { names } = timeline;
  return timeline.findings.map(({ text, moment, first, objects, how }) => ({
    text: names[text],
    moment,
    first,
    objects: new Set(objects.map((each) => names[each])),
    how,
  }));
}

const sameSort = (a, b) =>
  a.kind === b.kind && a.name === b.name && a.result === b.result && a.object === b.object && a.us !== null;

/** The moments by runs: equal ones that follow each other on their thread, one after the other. */
function runsOf(moments) {
  const runs = [];
  const last = new Map();
  for (const moment of moments) {
    const run = last.get(moment.thread);
    const previous = run?.at(-1);
    if (previous && sameSort(previous, moment) && previous.end <= moment.at) {
      run.push(moment);
      continue;
    }
    runs.push([moment]);
    last.set(moment.thread, runs.at(-1));
  }
  return runs;
}

/** One mark a moment, or a run of them that is long enough. `unfolded` has the indices of the first of those that are
 * to be seen one by one, `kept` those of moments that stay by themselves. */
function makeMarks(moments, unfolded, kept) {
  const marks = runsOf(moments).flatMap((run) => {
    const folds = run.length >= LEAST_FOLD && FOLDED_KINDS.includes(run[0].kind)
      && !unfolded.has(run[0].index) && !run.some(({ index }) => kept.has(index));
    return folds ? [foldOf(run)] : run.map((moment) => ({ ...moment, moments: [moment], run: run[0].index }));
  });
  return marks.sort((a, b) => a.index - b.index).map((mark, place) => ({ ...mark, place }));
}

function foldOf(run) {
  const last = run.at(-1);
  const { references, queue } = last;
  return { ...run[0], end: last.end, us: last.end - run[0].at, references, queue, moments: run, run: run[0].index };
}

/** From times to places and back. Places are times, or give each beginning and end of a mark about the same room. */
class Axis {
  constructor(marks, even) {
    this.even = even;
    if (!even) return;
    this.times = [...new Set(marks.flatMap((mark) => [mark.at, mark.end]))].sort((a, b) => a - b);
    const rooms = this.rooms(marks);
    let place = 0;
    this.places = rooms.map((room) => (place += room));
  }

  /** Between each time and the one before. */
  rooms(marks) {
    const folds = new Map();
    for (const mark of marks) if (mark.moments.length > 1) folds.set(mark.end, mark.moments.length);
    const ofMany = Math.max(FOLD_STEP, SHARE_OF_MANY * this.times.length);
    const begun = groupByBeginning(marks);
    let open = -Infinity;
    return this.times.map((at, index) => {
      const free = open >= at ? BAR_STEP : GAP_STEP;
      const folded = folds.has(at) ? (folds.get(at) < MANY ? FOLD_STEP : ofMany) : 0;
      for (const mark of begun.get(at) ?? []) open = Math.max(open, mark.end);
      return index ? Math.max(free, folded) : 0;
    });
  }

  place(time) {
    return this.even ? between(this.times, this.places, time) : time;
  }

  time(place) {
    return this.even ? between(this.places, this.times, place) : place;
  }
}

/** What belongs to a value, on straight lines from one pair of numbers to the next; beyond the ends it is the end's. */
function between(from, to, value) {
  let [low, high] = [0, from.length - 1];
  if (value <= from[low]) return to[low];
  if (value >= from[high]) return to[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle;
    else high = middle;
  }
  return to[low] + ((value - from[low]) / (from[high] - from[low])) * (to[high] - to[low]);
}

/** Of each time the marks that begin at it. */
function groupByBeginning(marks) {
  const groups = new Map();
  for (const mark of marks) groups.set(mark.at, [...(groups.get(mark.at) ?? []), mark]);
  return groups;
}
