import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A copy of the demo's broken project. */
export interface ScratchProject {
	/** Absolute real path. */
	dir: string;
	/** Removes it with everything in it. */
	remove(): Promise<void>;
}

/**
 * Creates a small project with a bug and a test that fails because of it, in a new private directory.
 * @param parentDir where to create it; default: the system's temporary directory
 */
export async function createScratchProject(parentDir: string = tmpdir()): Promise<ScratchProject> {
	const dir = await realpath(await mkdtemp(join(parentDir, "pi-demo-")));
	for (const [path, content] of Object.entries(SCRATCH_FILES)) {
		const target = join(dir, path);
		await mkdir(dirname(target), { recursive: true });
		await writeFile(target, content);
	}
	return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}

/**
 * The files of the shop that the demo repairs, by relative path. Two of its tests fail for one reason: prices with tax are
 * truncated to cents instead of rounded.
 */
export const SCRATCH_FILES: Readonly<Record<string, string>> = {
	"package.json": `{
  "name": "corner-shop",
  "version": "1.0.0",
  "private": true,
  "type": "module",
  "scripts": {
    "test": "node --test"
  }
}
`,
	// Otherwise npm would check for updates over the network and print the result among the tests.
	".npmrc": "update-notifier=false\n",
	"README.md": `# Corner shop

Prices, a cart and a receipt. All amounts are whole cents; fractions are rounded to the nearest cent.

    npm test
`,
	"src/price.js": `/** Adds tax to a net price in cents, rounded to the nearest cent. */
export function withTax(netCents, percent) {
  return Math.floor((netCents * (100 + percent)) / 100);
}

/** Formats cents as an amount: 1999 becomes "19.99". */
export function formatCents(cents) {
  return (cents / 100).toFixed(2);
}
`,
	"src/cart.js": `import { withTax } from "./price.js";

const TAX_PERCENT = 19;

/** The price of all items, tax included, in cents. */
export function totalCents(items) {
  return items.reduce((sum, item) => sum + item.count * withTax(item.netCents, TAX_PERCENT), 0);
}
`,
	"src/receipt.js": `import { totalCents } from "./cart.js";
import { formatCents } from "./price.js";

/** One line for each item and one for the total. */
export function receipt(items) {
  const lines = items.map((item) => \`\${item.count} x \${item.name}\`);
  return [...lines, \`Total \${formatCents(totalCents(items))}\`].join("\\n");
}
`,
	"test/price.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCents, withTax } from "../src/price.js";

test("tax is added to a round price", () => {
  assert.equal(withTax(1000, 19), 1190);
});

test("prices with tax are rounded to the nearest cent", () => {
  assert.equal(withTax(1999, 19), 2379);
});

test("cents are shown as an amount", () => {
  assert.equal(formatCents(2379), "23.79");
});
`,
	"test/receipt.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { receipt } from "../src/receipt.js";

test("a receipt ends with the total", () => {
  const items = [
    { name: "tea", count: 1, netCents: 1999 },
    { name: "cup", count: 2, netCents: 500 },
  ];
  assert.equal(receipt(items), "1 x tea\\n2 x cup\\nTotal 35.69");
});
`,
};

/** The wrong line of the shop, and its fix. */
export const SCRATCH_BUG = {
	path: "src/price.js",
	oldText: "return Math.floor((netCents * (100 + percent)) / 100);",
	newText: "return Math.round((netCents * (100 + percent)) / 100);",
} as const;
