import { fileURLToPath } from "node:url";

/** Path of a file in hooks-examples/. */
export function example(name: string): string {
	return fileURLToPath(new URL(`../../hooks-examples/${name}`, import.meta.url));
}
