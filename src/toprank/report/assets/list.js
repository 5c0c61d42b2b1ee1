/** Heads of our own columns, and which of them a narrow screen leaves to the details. */
const HEADS = {
  rank: "rank", item: null, query: null, score: "score", moved: "moved", firm: `in first ${data.budget}`,
  target: null, why: "why",
};
const NARROW_HIDES = new Set(["query", "score", "why"]);

const startList = () => {
  const list = data.list;
  if (!list) return;
  byId("list").hidden = false;
  const cellsOf = (name) => list.cells[list.columns.indexOf(name)];
  const count = list.cells[0].length;
  const ranks = cellsOf(list.parts.rank);

  // -- columns ---------------------------------------------------------------------------------

  const ours = Object.entries(HEADS).flatMap(([part, head]) => {
    if (part === "moved") {
      if (!list.parts.baseline_rank) return [];
      const theirs = cellsOf(list.parts.baseline_rank);
      return [{ part, head: "moved", cells: ranks.map((rank, row) => theirs[row] - rank), shown: true }];
    }
    const name = list.parts[part];
    return name === undefined ? [] : [{ part, head: head ?? name, cells: cellsOf(name), shown: true }];
  });
  const taken = new Set(Object.values(list.parts));
  const theirs = list.columns
    .filter((name) => !taken.has(name))
    .map((name) => ({ part: "data", head: name, cells: cellsOf(name), shown: false }));
  const columns = [...ours, ...theirs];
  for (const column of columns) column.numeric = column.cells.every((cell) => cell === null || typeof cell === "number");

  const shownText = (column, row) => {
    const cell = column.cells[row];
    if (cell === null) return "";
    if (column.part === "moved") return cell === 0 ? "–" : `${cell > 0 ? "▲" : "▼"} ${whole(Math.abs(cell))}`;
    if (column.part === "rank") return whole(cell);
    // A number of the user's own (a year, a code) is shown as it came.
    if (typeof cell === "number") return column.part === "score" ? digits(cell) : String(Number(cell.toPrecision(7)));
    return String(cell);
  };

  // -- order and search ------------------------------------------------------------------------

  const size = byId("size");
  let view = Array.from({ length: count }, (_, row) => row);
  let page = 0;
  // A list of queries comes query after query, which is the order of no column.
  let sorted = { column: list.parts.query ? null : columns[0], down: false };
  let open = new Set();
  let haystack = null;

  const key = (column) => {
    if (column.part === "firm") {
      return column.cells.map((cell) => {
        const [inside, times] = String(cell ?? "").split(" of ").map(Number);
        return times ? inside / times : null;
      });
    }
    return column.numeric ? column.cells : column.cells.map((cell) => (cell === null ? null : String(cell).toLowerCase()));
  };
  /** Missing cells last, whichever way; equal ones in the order of the list. */
  const arrange = () => {
    if (sorted.column === null) {
      view.sort((one, other) => one - other);
      return;
    }
    const keys = key(sorted.column);
    const way = sorted.down ? -1 : 1;
    view.sort((one, other) => {
      const [a, b] = [keys[one], keys[other]];
      if (a === b) return one - other;
      if (a === null) return 1;
      if (b === null) return -1;
      return a < b ? -way : way;
    });
  };
  const filter = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const within = byId("within").checked;
    if (words.length && haystack === null) {
      haystack = Array.from({ length: count }, (_, row) =>
        list.cells.map((cells) => (cells[row] === null ? "" : cells[row])).join("\n").toLowerCase());
    }
    view = [];
    for (let row = 0; row < count; row++) {
      if (within && ranks[row] > data.budget) continue;
      if (words.every((word) => haystack[row].includes(word))) view.push(row);
    }
    arrange();
    page = 0;
    draw();
  };

  // -- drawing ---------------------------------------------------------------------------------

  const headCell = (column) => {
    const active = sorted.column === column;
    const mark = active ? (sorted.down ? " ▼" : " ▲") : "";
    const button = make("button", { type: "button" }, column.head, make("span", { "aria-hidden": "true" }, mark));
    button.addEventListener("click", () => {
      sorted = { column, down: active ? !sorted.down : ["score", "moved", "firm"].includes(column.part) };
      arrange();
      page = 0;
      draw();
      byId("items").querySelector("th[aria-sort] button").focus();
    });
    return make("th", { scope: "col", class: classOf(column), "aria-sort": active ? (sorted.down ? "descending" : "ascending") : null }, button);
  };
  const classOf = (column) =>
    [column.numeric || column.part === "firm" ? "figure" : "", NARROW_HIDES.has(column.part) ? "roomy" : "", `part-${column.part}`].join(" ").trim();

  const bar = (adds, most) => {
    const reach = (58 * Math.abs(adds)) / most;
    return makeSvg("svg", { viewBox: "0 0 120 12", width: 120, height: 12, "aria-hidden": "true" },
      makeSvg("line", { class: "zero", x1: 60, x2: 60, y1: 0, y2: 12 }),
      makeSvg("rect", { class: adds > 0 ? "up" : "down", x: adds > 0 ? 60 : 60 - reach, width: reach, y: 2, height: 8 }));
  };
  const reasons = (row) => {
    const parts = data.contributions[row];
    if (!parts) {
      return make("p", { class: "quiet" }, `Reasons are kept for the first ${whole(data.contributions.length)} rows; toprank explain tells those of any other.`);
    }
    if (!parts.length) return make("p", { class: "quiet" }, "All its columns are as usual.");
    const most = Math.max(...parts.map((part) => Math.abs(part.adds)));
    const rows = parts.map((part) =>
      make("tr", {}, make("th", { scope: "row" }, part.column), make("td", {}, part.value),
        make("td", { class: "figure" }, signed(part.adds, (value) => digits(value, 3))), make("td", {}, bar(part.adds, most))));
    return make("div", {}, make("p", { class: "quiet" }, "What each column adds to the score, against its usual value:"),
      make("table", { class: "drawn" }, make("thead", {}, make("tr", {}, ...["column", "value", "adds"].map((head) => make("th", { scope: "col" }, head)),
        make("th", { scope: "col" }, make("span", { class: "hidden" }, "drawn")))), make("tbody", {}, ...rows)));
  };
  const details = (row, id) => {
    const cells = columns.filter((column) => column.part !== "why" && column.part !== "moved")
      .flatMap((column) => [make("dt", {}, column.head), make("dd", {}, shownText(column, row))]);
    return make("tr", { id, class: "details" }, make("td", { colspan: columns.filter((column) => column.shown).length },
      make("div", { class: "two" }, reasons(row), make("dl", { class: "facts" }, ...cells))));
  };

  const movedWords = (cell, rank) =>
    cell === 0 ? `where ${baselineLabel} has it` : `${baselineLabel} has it at ${whole(rank + cell)}`;
  const bodyRows = (row) => {
    const id = `details-${row}`;
    const isOpen = open.has(row);
    const cells = columns.filter((column) => column.shown).map((column) => {
      const text = shownText(column, row);
      if (column.part === "rank") {
        const button = make("button", { type: "button", class: "opener", "aria-expanded": String(isOpen), "aria-controls": isOpen ? id : null, "aria-label": `${text}: why it is there` },
          make("span", { "aria-hidden": "true" }, isOpen ? "▾ " : "▸ "), text);
        button.addEventListener("click", () => {
          if (!open.delete(row)) open.add(row);
          draw();
          byId("items").querySelector(`[data-row="${row}"] button`).focus();
        });
        return make("th", { scope: "row", class: classOf(column) }, button);
      }
      const title = column.part === "moved" ? movedWords(column.cells[row], ranks[row]) : null;
      return make("td", { class: classOf(column), title }, text);
    });
    const line = make("tr", { "data-row": row, class: ranks[row] <= data.budget ? "inside" : null }, ...cells);
    return isOpen ? [line, details(row, id)] : [line];
  };

  const draw = (rows = Number(size.value)) => {
    const pages = Math.max(1, Math.ceil(view.length / rows));
    page = Math.min(page, pages - 1);
    const table = byId("items");
    table.tHead.replaceChildren(make("tr", {}, ...columns.filter((column) => column.shown).map(headCell)));
    table.tBodies[0].replaceChildren(...view.slice(page * rows, (page + 1) * rows).flatMap(bodyRows));
    const of = view.length === count ? "" : ` of ${whole(count)}`;
    byId("where").textContent = view.length ? `${whole(view.length)}${of} items, page ${whole(page + 1)} of ${whole(pages)}` : "nothing found";
    byId("before").disabled = page === 0;
    byId("after").disabled = page === pages - 1;
  };

  // -- controls --------------------------------------------------------------------------------

  const turn = (by) => () => {
    page += by;
    draw();
  };
  byId("before").addEventListener("click", turn(-1));
  byId("after").addEventListener("click", turn(1));
  size.addEventListener("change", () => {
    page = 0;
    draw();
  });
  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  byId("within").addEventListener("change", filter);
  byId("columns").append(...columns.slice(1).map((column) => {
    const box = make("input", { type: "checkbox" });
    box.checked = column.shown;
    box.addEventListener("change", () => {
      column.shown = box.checked;
      draw();
    });
    return make("label", {}, box, ` ${column.head}`);
  }));
  // Paper has room for the items within the budget, not for pages.
  addEventListener("beforeprint", () => draw(Math.max(Number(size.value), Math.min(data.budget, 200))));
  addEventListener("afterprint", () => draw());
  const note = [];
  if (list.parts.baseline_rank) note.push(`moved: places up or down against ${baselineLabel}.`);
  if (list.parts.firm) note.push(`in first ${data.budget}: in how many of the resamples the item stands there; 2 of 5 is a place not to rely on.`);
  if (list.left_out) note.push(`${whole(list.left_out)} more columns are in the file that --out writes.`);
  byId("list-note").textContent = note.join(" ");
  draw();
};
