/** "36 to 47", or the mean where there are too few splits for a range. */
const rangeOf = (figures, index) => {
  const [low, high] = [figures.low[index], figures.high[index]];
  if (numbers) return low === null || low === high ? digits(figures.mean[index], 3) : `${digits(low, 3)} to ${digits(high, 3)}`;
  if (low === null) return oneDigit(figures.mean[index]);
  return low < high ? `${whole(low)} to ${whole(high)}` : whole(low);
};

const moneyRange = (figures, index, net) => {
  const [low, high] = [figures.low[index], figures.high[index]];
  if (low === null || low === high) return money(net(low === null ? figures.mean[index] : low));
  return `${money(net(low))} to ${money(net(high))}`;
};

/** Hits of a labelled list are counts: a range of one number. */
const asFigures = (hits) => ({ mean: hits, low: hits, high: hits });

const cutOffFigures = () => {
  if (data.held_out) return data.held_out.cut_offs;
  const found = data.found.by_cut_off;
  const rankers = Object.fromEntries(Object.entries(found.rankers).map(([name, hits]) => [name, asFigures(hits)]));
  return { ...found, rankers };
};

const sayMean = (at, index) => {
  const each = data.qid ? " of each query" : "";
  const ours = at.rankers[data.delivered];
  const begin = data.held_out
    ? `The first ${whole(at.k[index])}${each} would have a mean ${data.target} of `
    : `The first ${whole(at.k[index])} of the items listed here have a mean ${data.target} of `;
  const best = at.best ? `, at best ${digits(at.best[index], 3)}` : "";
  const theirs = at.rankers[data.baseline];
  const beside = data.delivered === data.baseline || !theirs ? "" : `, by ${baselineLabel} ${rangeOf(theirs, index)}`;
  return [begin, make("strong", {}, rangeOf(ours, index)), `; by chance ${digits(at.chance[index], 3)}${best}${beside}.`];
};

const sayHits = (at, index) => {
  if (numbers) return sayMean(at, index);
  const each = data.qid ? " of each query" : "";
  const ours = at.rankers[data.delivered];
  const begin = data.held_out
    ? `If you inspect the first ${whole(at.k[index])}${each} you find `
    : `The first ${whole(at.k[index])} of the items listed here hold `;
  const average = data.held_out && ours.low[index] !== null ? ` hits, ${oneDigit(ours.mean[index])} on average` : " hits";
  const beside =
    data.delivered === data.baseline || !at.rankers[data.baseline]
      ? ""
      : `; by ${baselineLabel} ${rangeOf(at.rankers[data.baseline], index)}`;
  return [begin, make("strong", {}, rangeOf(ours, index)), `${average}; by chance ${oneDigit(at.chance[index])}${beside}.`];
};

const sayMore = (at, index) => {
  const ours = at.rankers[data.delivered];
  const parts = [];
  if (data.held_out && !numbers) {
    parts.push(
      `That is ${percent(ours.precision[index])} of the items inspected, ${percent(ours.share_found[index])} of all hits,` +
        ` ${digits(ours.lift[index], 3)} times what chance finds, in lists of ${whole(data.held_out.rows)} held-out items.`,
    );
  }
  if (data.held_out && data.found) {
    const labelled = data.found.by_cut_off;
    const where = labelled.k.indexOf(at.k[index]);
    if (where >= 0) {
      const hits = labelled.rankers[data.delivered][where];
      const here = `Of the ${whole(data.listed_rows)} items listed here the first ${whole(at.k[index])}`;
      parts.push(numbers ? `${here} have a mean ${data.target} of ${digits(hits, 3)}.` : `${here} hold ${whole(hits)}.`);
    }
  }
  return parts.join(" ");
};

const sayMoney = (at, index, cost, gain) => {
  const ours = at.rankers[data.delivered];
  // Of hits the number is paid for, of other labels their sum.
  const net = (place) => (found) => gain * found * (numbers ? at.k[place] : 1) - cost * at.k[place];
  let best = 0;
  ours.mean.forEach((hits, place) => {
    if (net(place)(hits) > net(best)(ours.mean[best])) best = place;
  });
  const beside =
    data.delivered === data.baseline || !at.rankers[data.baseline]
      ? ""
      : `; by ${baselineLabel} ${moneyRange(at.rankers[data.baseline], index, net(index))}`;
  return [
    "What is left after the cost: ",
    make("strong", {}, moneyRange(ours, index, net(index))),
    `; by chance ${money(net(index)(at.chance[index]))}${beside}. Most is left with the first ${whole(at.k[best])}:` +
      ` ${moneyRange(ours, best, net(best))}.`,
  ];
};

const startCutOff = () => {
  const section = byId("cut-off");
  if (!section) return;
  const at = cutOffFigures();
  const [range, number, cost, gain] = ["cut-range", "cut-number", "cost", "gain"].map(byId);
  section.hidden = false;
  range.max = at.k.length - 1;
  number.max = at.k[at.k.length - 1];
  let index = nearest(at.k, data.budget);
  const show = () => {
    cutOff = at.k[index];
    range.value = index;
    range.setAttribute("aria-valuetext", `first ${whole(cutOff)}`);
    byId("cut-sentence").replaceChildren(...sayHits(at, index));
    byId("cut-more").textContent = sayMore(at, index);
    const typed = [cost, gain].every((input) => input.value !== "" && Number.isFinite(input.valueAsNumber));
    byId("money").classList.toggle("hint", !typed);
    byId("money").replaceChildren(
      ...(typed
        ? sayMoney(at, index, cost.valueAsNumber, gain.valueAsNumber)
        : [`Type what an inspection costs and what ${numbers ? `each unit of ${data.target}` : "a hit"} brings to see what is left.`]),
    );
    charts.forEach((chart) => chart.update());
  };
  range.addEventListener("input", () => {
    index = Number(range.value);
    number.value = at.k[index];
    show();
  });
  number.addEventListener("input", () => {
    if (!(number.valueAsNumber >= 1)) return;
    index = nearest(at.k, number.valueAsNumber);
    show();
  });
  number.addEventListener("change", () => {
    number.value = at.k[index];
  });
  cost.addEventListener("input", show);
  gain.addEventListener("input", show);
  number.value = at.k[index];
  show();
};
