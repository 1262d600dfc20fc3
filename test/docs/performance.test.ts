import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}/docs/performance.md`, "utf8");

const Row = Type.Object({
	unit: Type.String(),
	median: Type.Number(),
	floor: Type.Optional(Type.String()),
	ratio: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
	budget: Type.Optional(Type.Object({ ratio: Type.Optional(Type.Number()), atMost: Type.Optional(Type.Number()) })),
});
type Row = Type.Static<typeof Row>;
const Baseline = Type.Object({ node: Type.String(), cpus: Type.Number(), rows: Type.Record(Type.String(), Row) });

/** Major versions of Node with a committed baseline → the baseline. */
const baselines = new Map(
	readdirSync(`${root}/test/bench`)
		.flatMap((name) => /^baseline-(\d+)\.json$/.exec(name)?.[1] ?? [])
		.sort()
		.map((version) => {
			const text = readFileSync(`${root}/test/bench/baseline-${version}.json`, "utf8");
			return [version, Value.Parse(Baseline, JSON.parse(text))];
		}),
);

function rounded(value: number): string {
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function budgetOf({ budget, floor, unit }: Row): string {
	if (budget?.ratio !== undefined) return `${budget.ratio} × ${floor}`;
	return budget?.atMost === undefined ? "" : `${budget.atMost} ${unit}`.trimEnd();
}

/** The median with its ratio to the floor; bold if it is over the budget. */
function cell(row: Row | undefined): string {
	if (!row) return "–";
	const { budget, median, ratio, unit } = row;
	const text = `${rounded(median)} ${unit}`.trimEnd() + (typeof ratio === "number" ? ` (${ratio.toFixed(2)} ×)` : "");
	const isOver =
		budget?.ratio !== undefined
			? typeof ratio !== "number" || ratio > budget.ratio
			: budget?.atMost !== undefined && median > budget.atMost;
	return isOver ? `**${text}**` : text;
}

test("a baseline exists for each version of Node that pi supports", () => {
	expect([...baselines.keys()]).toEqual(["20", "22", "24"]);
	for (const [version, { node }] of baselines) expect(node).toMatch(new RegExp(`^v${version}\\.`));
});

test("the table of figures comes from the baselines (npm run schemas updates it)", async () => {
	const all = [...baselines.values()];
	const names = [...new Set(all.flatMap(({ rows }) => Object.keys(rows)))];
	const rows = names.flatMap((name) => {
		const measured = all.map(({ rows }) => rows[name]);
		const budget = measured.map((row) => (row ? budgetOf(row) : "")).find((text) => text !== "");
		return budget === undefined ? [] : [`| ${[name, `≤ ${budget}`, ...measured.map(cell)].join(" | ")} |`];
	});
	const head = [
		`| measurement | budget | ${all.map(({ node }) => `Node ${node.slice(1)}`).join(" | ")} |`,
		`|---|---|${all.map(() => "---|").join("")}`,
	];
	const [before = "", rest = ""] = page.split(/^\| measurement \| [\s\S]*?\n(?=\n)/m);
	const written = `${before}${[...head, ...rows].join("\n")}\n${rest}`;
	await expect(written).toMatchFileSnapshot("../../docs/performance.md");
});

test("every floor of the baselines and every measurement named on the page exists", () => {
	const bench = readFileSync(`${root}/test/bench/bench.mjs`, "utf8");
	for (const [, name = ""] of page.matchAll(/node test\/bench\/bench\.mjs ([a-z]+)/g)) {
		expect(bench).toContain(`\t${name}: `);
	}
	for (const [, option = ""] of page.matchAll(/`(--[a-z-]+)[^`]*`/g)) {
		expect(bench).toContain(option.slice(2));
	}
	const floors = [...baselines.values()].flatMap(({ rows }) => Object.values(rows).flatMap(({ floor }) => floor ?? []));
	for (const floor of new Set(floors)) expect(page).toContain(`| ${floor} |`);
});
