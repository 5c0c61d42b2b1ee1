const HEIGHT = 250;
/** Who is drawn how: colour, dashes, width. What is delivered is the thickest and solid. */
const LOOKS = [
  { color: "--line-1", dash: [], width: 2.5 },
  { color: "--line-2", dash: [7, 3], width: 1.75 },
  { color: "--line-3", dash: [2, 3], width: 1.75 },
  { color: "--line-4", dash: [10, 3, 2, 3], width: 1.75 },
];
const CHANCE = { color: "--quiet", dash: [2, 4], width: 1.5 };
const BEST = { color: "--quiet", dash: [10, 4], width: 1 };

const charts = [];
let shownPart = "top";
let cutOff = data.budget;

const nearest = (sorted, value) => {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && value - sorted[low - 1] < sorted[low] - value) return low - 1;
  return low;
};

/** An upright line at the cut-off. */
const cutOffLine = (spec) => ({
  hooks: {
    draw: [
      (plot) => {
        if (!spec.byCutOff) return;
        const x = plot.valToPos(cutOff, "x", true);
        if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) return;
        const context = plot.ctx;
        context.save();
        context.strokeStyle = color("--text");
        context.globalAlpha = 0.55;
        context.lineWidth = devicePixelRatio;
        context.setLineDash([]);
        context.beginPath();
        context.moveTo(x, plot.bbox.top);
        context.lineTo(x, plot.bbox.top + plot.bbox.height);
        context.stroke();
        context.restore();
      },
    ],
  },
});

const WHOLE_STEPS = [1, 2, 5].flatMap((step) => [0, 1, 2, 3, 4, 5, 6].map((power) => step * 10 ** power)).sort((a, b) => a - b);

const axis = (label, size, values, incrs) => ({
  label,
  incrs,
  labelSize: 22,
  size,
  values,
  font: "12px system-ui, sans-serif",
  labelFont: "12px system-ui, sans-serif",
  stroke: () => color("--text"),
  grid: { stroke: () => color("--rule"), width: 1 },
  ticks: { stroke: () => color("--rule"), width: 1 },
});

const lineOf = (one) => ({
  label: one.label,
  stroke: () => color(one.look.color),
  width: one.look.width,
  dash: one.look.dash,
  points: { show: false },
  paths: one.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
});

/** Series and bands: a line with a range brings its two edges, not drawn, and what is filled between. */
const layers = (lines) => {
  const series = [{}];
  const columns = [];
  const bands = [];
  for (const one of lines) {
    if (one.low) {
      bands.push({ series: [series.length + 1, series.length], fill: () => color("--band") });
      const edge = { stroke: "transparent", width: 0, points: { show: false } };
      series.push({ ...edge }, { ...edge });
      columns.push(one.low, one.high);
    }
    one.index = series.length;
    series.push(lineOf(one));
    columns.push(one.values);
  }
  return { series, columns, bands };
};

const readout = (spec, index) => {
  const said = spec.lines.map((one) => `${one.label} ${spec.show(one.values[index])}`);
  return `${spec.at(spec.x[index])}: ${said.join("; ")}`;
};

const drawChart = (parent, spec) => {
  const place = make("div", { class: "plot", role: "img" });
  const say = make("p", { class: "readout quiet" });
  parent.append(make("figure", {}, make("figcaption", {}, spec.title), place, say));
  const { series, columns, bands } = layers(spec.lines);
  const atCutOff = () => nearest(spec.x, spec.byCutOff ? cutOff : spec.usual());
  const tell = (index) => {
    say.textContent = readout(spec, index);
  };
  const plot = new uPlot(
    {
      width: Math.max(place.clientWidth, 200),
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
      scales: {
        x: { time: false, range: () => spec.range() },
        y: { range: (_, low, high) => spec.heights(low, high) },
      },
      axes: [axis(spec.xLabel, 34, spec.xTicks, spec.byCutOff ? WHOLE_STEPS : undefined), axis(spec.yLabel, 52, spec.yTicks)],
      series,
      bands,
      plugins: [cutOffLine(spec)],
      hooks: {
        setCursor: [
          (self) => tell(self.cursor.idx === null || self.cursor.idx === undefined ? atCutOff() : self.cursor.idx),
        ],
      },
    },
    [spec.x, ...columns],
    place,
  );
  const update = () => {
    tell(atCutOff());
    place.setAttribute("aria-label", `${spec.title}. ${readout(spec, atCutOff())}`);
    plot.redraw(false);
  };
  new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width) {
      plot.setSize({ width: place.clientWidth, height: HEIGHT });
    }
  }).observe(place);
  charts.push({ plot, update, rescale: () => plot.setData([spec.x, ...columns]) });
  update();
};

const lookOf = (names) => {
  const others = names.filter((name) => name !== data.delivered);
  return Object.fromEntries([data.delivered, ...others].map((name, k) => [name, LOOKS[k % LOOKS.length]]));
};

const shares = (_, splits) => splits.map((value) => `${+(100 * value).toFixed(1)} %`);

/** Charts over the number of items inspected. */
const cutOffSpecs = (names, looks) => {
  const at = data.held_out.cut_offs;
  const last = at.k[at.k.length - 1];
  const first = Math.min(last, Math.max(2 * data.budget, 20));
  const lines = (part, chance, withRange) => [
    { label: "chance", look: CHANCE, values: chance },
    ...names.map((name) => {
      const figures = at.rankers[name];
      const range = withRange && name === data.delivered && figures.low[0] !== null;
      return {
        label: data.labels[name],
        look: looks[name],
        values: figures[part],
        low: range ? figures.low : null,
        high: range ? figures.high : null,
      };
    }),
  ];
  const common = {
    x: at.k,
    byCutOff: true,
    xLabel: data.qid ? "items inspected of each query" : "items inspected",
    range: () => [0, shownPart === "top" ? first : last],
    at: (k) => `first ${whole(k)}`,
  };
  const asHigh = (_, high) => [0, Math.max(high, 1e-9) * 1.05];
  const shareOf = (_, high) => [0, Math.min(1, Math.max(high, 1e-9) * 1.05)];
  if (numbers) {
    const best = { label: "at best", look: BEST, values: at.best };
    const room = (low, high) => [low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1)];
    return [
      {
        ...common, title: `Mean ${data.target} of the items inspected`, yLabel: `mean ${data.target}`,
        lines: [...lines("mean", at.chance, true), best], heights: room, show: (value) => digits(value, 3),
      },
    ];
  }
  const hitRate = at.k.map((k, index) => at.chance[index] / k);
  return [
    { ...common, title: "Hits", yLabel: "hits", lines: lines("mean", at.chance, true), heights: asHigh, show: oneDigit },
    {
      ...common, title: "Precision: share of hits among the items inspected", yLabel: "precision", yTicks: shares,
      lines: lines("precision", hitRate), heights: shareOf, show: percent,
    },
    {
      ...common, title: "Cumulative gain: share of all hits found", yLabel: "share found", yTicks: shares,
      lines: lines("share_found", at.k.map((k, index) => at.chance[index] / at.chance[at.chance.length - 1])),
      heights: shareOf, show: percent,
    },
    {
      ...common, title: "Lift: times as many hits as by chance", yLabel: "lift",
      lines: lines("lift", at.k.map(() => 1)), heights: asHigh, show: (value) => digits(value, 3),
    },
  ];
};

const rocSpec = (names, looks) => {
  const roc = data.held_out.roc;
  return {
    title: "ROC: hits found against others let through",
    x: roc.fpr,
    usual: () => roc.left_corner,
    xLabel: "false positive rate",
    yLabel: "true positive rate",
    xTicks: shares,
    yTicks: shares,
    range: () => [0, shownPart === "top" ? roc.left_corner : 1],
    heights: () => [0, 1],
    lines: [
      { label: "chance", look: CHANCE, values: roc.fpr },
      ...names.map((name) => ({ label: data.labels[name], look: looks[name], values: roc.tpr[name] })),
    ],
    at: (rate) => `at ${percent(rate)}`,
    show: percent,
  };
};

const searchSpec = () => {
  const events = data.certificate.history;
  const last = events[events.length - 1][0];
  const finite = events.flatMap(([, value, bound]) => [value, bound]).filter((value) => value !== null);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const room = (high - low || 1) * 0.08;
  return {
    title: "Best value found and the bound no order can beat, over time",
    x: events.map((event) => event[0]),
    usual: () => last,
    xLabel: "seconds",
    yLabel: "value",
    range: () => [0, last || 1],
    heights: () => [low - room, high + room],
    lines: [
      { label: "bound", look: LOOKS[1], values: events.map((event) => event[2]), steps: true },
      { label: "best found", look: LOOKS[0], values: events.map((event) => event[1]), steps: true },
    ],
    at: (seconds) => `${digits(seconds, 3)} s`,
    show: digits,
  };
};

const swatch = (label, look) =>
  make("li", {}, makeSvg("svg", { viewBox: "0 0 34 10", width: 34, height: 10, "aria-hidden": "true" },
    makeSvg("line", {
      x1: 1, x2: 33, y1: 5, y2: 5, stroke: `var(${look.color})`, "stroke-width": look.width,
      "stroke-dasharray": look.dash.join(" "),
    })), label);

const startCharts = () => {
  if (data.held_out) {
    const names = Object.keys(data.held_out.cut_offs.rankers);
    const looks = lookOf(names);
    byId("charts").hidden = false;
    byId("legend").append(
      ...names.map((name) => swatch(data.labels[name] + (name === data.delivered ? " (delivered)" : ""), looks[name])),
      swatch("chance", CHANCE),
      ...(numbers ? [swatch("at best", BEST)] : []),
    );
    const parent = byId("curve-charts");
    cutOffSpecs(names, looks).forEach((spec) => drawChart(parent, spec));
    if (data.held_out.roc.fpr) drawChart(parent, rocSpec(names, looks));
    const show = (part) => {
      shownPart = part;
      byId("show-top").setAttribute("aria-pressed", part === "top");
      byId("show-all").setAttribute("aria-pressed", part === "all");
      charts.forEach((chart) => chart.rescale());
    };
    byId("show-top").addEventListener("click", () => show("top"));
    byId("show-all").addEventListener("click", () => show("all"));
  }
  if (data.certificate && data.certificate.history.length > 1) drawChart(byId("search-chart"), searchSpec());
  themeListeners.push(() => charts.forEach((chart) => chart.update()));
};
