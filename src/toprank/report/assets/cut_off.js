/** "36 to 47", or the mean where there are too few splits for a range. */
const rangeOf = (figures, index) => {
  const [low, high] = [figures.low[index], figures.high[index]];
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

const sayHits = (at, index) => {
  const each = data.qid ? " of each query" : "";
  const ours = at.rankers[data.delivered];
  const begin = data.held_out
    ? `If you inspect the first ${whole(at.k[index])}${each} you find `
    : `The first ${whole(at.k[index])} of the items listed here hold `;
  const average = data.held_out && ours.low[index] !== null ? ` hits, ${oneDigit(ours.mean[index])} on average` : " hits";
  const logistic =
    data.delivered === "logistic" || !at.rankers.logistic
      ? ""
      : `; by logistic regression ${rangeOf(at.rankers.logistic, index)}`;
  return [begin, make("strong", {}, rangeOf(ours, index)), `${average}; by chance ${oneDigit(at.chance[index])}${logistic}.`];
};

const sayMore = (at, index) => {
  const ours = at.rankers[data.delivered];
  const parts = [];
  if (data.held_out) {
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
      parts.push(`Of the ${whole(data.listed_rows)} items listed here the first ${whole(at.k[index])} hold ${whole(hits)}.`);
    }
  }
  return parts.join(" ");
};

const sayMoney = (at, index, cost, gain) => {
  const ours = at.rankers[data.delivered];
  const net = (place) => (hits) => gain * hits - cost * at.k[place];
  let best = 0;
  ours.mean.forEach((hits, place) => {
    if (net(place)(hits) > net(best)(ours.mean[best])) best = place;
  });
  const logistic =
    data.delivered === "logistic" || !at.rankers.logistic
      ? ""
      : `; by logistic regression ${moneyRange(at.rankers.logistic, index, net(index))}`;
  return [
    "What is left after the cost: ",
    make("strong", {}, moneyRange(ours, index, net(index))),
    `; by chance ${money(net(index)(at.chance[index]))}${logistic}. Most is left with the first ${whole(at.k[best])}:` +
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
        : ["Type what an inspection costs and what a hit brings to see what is left."]),
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
