import { startModelServer } from "../lib/model-server.mjs";
import { interleave } from "../lib/stats.mjs";
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
