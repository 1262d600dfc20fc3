import { setTimeout as delay } from "node:timers/promises";
import { startModelServer } from "../lib/model-server.mjs";
import { interleave, percentile } from "../lib/stats.mjs";
import { startInTerminal } from "../lib/terminal.mjs";
import { timeToRequest } from "./print.mjs";

const COUNT = 20;

/** A typical hook: event handlers, a command and a change of the context. */
const hook = (number) => `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

export default function (pi: HookAPI) {
	let turns = 0;
	pi.on("session", (event) => { if (event.reason === "start") turns = 0; });
	pi.on("turn_end", () => { turns++; });
	pi.on("context", ({ messages }) => (messages.length > 1_000_000 ? { messages: messages.slice(1) } : undefined));
	pi.command("hook${number}", { description: "Says how often", handler: () => ({ status: String(turns) }) });
}
`;

/** Time that 20 compiled hooks add before the first request and the first paint. */
export async function hooksStart({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const files = Object.fromEntries(Array.from({ length: COUNT }, (_, at) => [`hooks/hook${at}.ts`, hook(at)]));
	const plain = workshop.sandbox({ "models.json": server.modelsJson() });
	const hooked = workshop.sandbox({ ...files, "models.json": server.modelsJson() });
	const paint = (sandbox) => async () => {
		const terminal = startInTerminal([...workshop.pi, "--model", "bench/scripted"], sandbox);
		try {
			return { painted: await terminal.waitFor("─") };
		} finally {
			await terminal.close();
		}
	};
	const request = (sandbox) => () => timeToRequest(workshop.pi, sandbox, server);
	try {
		// The first run compiles the hooks.
		await request(hooked)();
		const runs = await interleave(rounds * 2, {
			plain: request(plain),
			hooked: request(hooked),
			plainPaint: paint(plain),
			hookedPaint: paint(hooked),
		});
		const added = runs.hooked.sent.map((sent, round) => sent - runs.plain.sent[round]);
		const budget = { ratio: 1.1 };
		return [
			{ name: `${COUNT} hooks: added to the first request`, unit: "ms", values: added, budget: { atMost: 60 } },
			{
				name: `${COUNT} hooks: first paint`,
				unit: "ms",
				values: runs.hookedPaint.painted,
				floor: "no hooks",
				floorValues: runs.plainPaint.painted,
				budget,
			},
		];
	} finally {
		await server.close();
	}
}

/** A hook with a status, a widget of lines and one that is a component. */
const board = (number) => `export default function (pi) {
	pi.on("session", (event, ctx) => {
		ctx.ui.setStatus("state", "hook${number} is ready");
		ctx.ui.setWidget("lines", ["hook${number}: first line", "second line"]);
		ctx.ui.setWidget("drawn", (tui, theme) => ({ render: (width) => [theme.dim("drawn ".repeat(width)).slice(0, width)], invalidate() {} }), { placement: "belowEditor" });
	});
}
`;

/** First paint and echo with 20 hooks that show statuses and widgets. */
export async function hooksScreen({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const files = Object.fromEntries(Array.from({ length: COUNT }, (_, at) => [`hooks/hook${at}.ts`, board(at)]));
	const type = (sandbox, shown) => async () => {
		const terminal = startInTerminal([...workshop.pi, "--model", "bench/scripted"], sandbox);
		try {
			const painted = await terminal.waitFor("─");
			if (shown) await terminal.waitFor(shown);
			await delay(500);
			const echoes = [];
			for (let key = 2; key < 62; key++) {
				echoes.push(await terminal.echo(key));
				await delay(20);
			}
			return { painted, echo: percentile(echoes, 95) };
		} finally {
			await terminal.close();
		}
	};
	const plain = workshop.sandbox({ "models.json": server.modelsJson() });
	const hooked = workshop.sandbox({ ...files, "models.json": server.modelsJson() });
	try {
		// The first run compiles the hooks.
		await type(hooked, "is ready")();
		const runs = await interleave(rounds * 2, { plain: type(plain), hooked: type(hooked, "is ready") });
		const row = (name, key, ratio) => ({
			name: `${COUNT} hooks with statuses and widgets: ${name}`,
			...{ unit: "ms", values: runs.hooked[key], floor: "no hooks", floorValues: runs.plain[key], budget: { ratio } },
		});
		return [row("first paint", "painted", 1.1), row("echo p95", "echo", 1.5)];
	} finally {
		await server.close();
	}
}
