import { onTestFinished } from "vitest";

/**
 * Moves the clock that `monotonicMs` reads forward until the end of the test, as if time had passed. Timers do not notice.
 * @param seconds a whole number
 */
export function skipTime(seconds: number): void {
	const { hrtime } = process;
	const ahead = (since?: [number, number]): [number, number] => {
		const [now, nanoseconds] = hrtime();
		return since ? hrtime(since) : [now + seconds, nanoseconds];
	};
	process.hrtime = Object.assign(ahead, { bigint: hrtime.bigint });
	onTestFinished(() => {
		process.hrtime = hrtime;
	});
}
