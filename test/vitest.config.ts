import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));
const alias = {
	"@mariozechner/pi-coding-agent/hooks": `${root}src/hooks/index.ts`,
	"@mariozechner/pi-coding-agent": `${root}src/index.ts`,
};
const env = { FORCE_COLOR: "3", TZ: "UTC" };

/** Tests of the built program in a pty run apart from the rest: they are slow, and a busy machine must not fail them. */
export default defineConfig({
	test: {
		root,
		// Many tests wait for a process or a terminal: a third worker uses the time that two cores are idle.
		maxWorkers: 3,
		minWorkers: 1,
		reporters: ["default"],
		projects: [
			{
				resolve: { alias },
				test: { name: "unit", env, include: ["test/**/*.test.ts"], exclude: ["test/e2e/**"], testTimeout: 15_000 },
			},
			{
				resolve: { alias },
				test: {
					name: "e2e",
					env,
					include: ["test/e2e/**/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
		],
	},
});
