import { startModelServer } from "../lib/model-server.mjs";
import { interleave } from "../lib/stats.mjs";
import { startInTerminal } from "../lib/terminal.mjs";
import { timeToRequest } from "./print.mjs";

const COUNT = 20;

/** A hook as people have them: it listens, has a command and a say in the context. */
const hook = (number) => `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

export default function (pi: HookAPI) {
	let turns = 0;
	pi.on("session", (event) => { if (event.reason === "start") turns = 0; });
	pi.on("turn_end", () => { turns++; });
	pi.on("context", ({ messages }) => (messages.length > 1_000_000 ? { messages: messages.slice(1) } : undefined));
	pi.command("hook${number}", { description: "Says how often", handler: () => ({ status: String(turns) }) });
}
`;

/** What 20 hooks, compiled before, add to the way to the first request and to the first paint. */
export async function hooksStart({ rounds, workshop }) {
	const server = await startModelServer(() => ({ text: "hello" }));
	const files = Object.fromEntries(Array.from({ length: COUNT }, (_, at) => [`hooks/hook${at}.ts`, hook(at)]));
	const plain = workshop.place({ "models.json": server.modelsJson() });
	const hooked = workshop.place({ ...files, "models.json": server.modelsJson() });
	const paint = (place) => async () => {
		const terminal = startInTerminal([...workshop.pi, "--model", "bench/scripted"], place);
		try {
			return { painted: await terminal.waitFor("─") };
		} finally {
			await terminal.close();
		}
	};
	const request = (place) => () => timeToRequest(workshop.pi, place, server);
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
