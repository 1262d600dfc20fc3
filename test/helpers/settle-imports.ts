import { afterAll, vi } from "vitest";

// Workers keep modules for their next file, but no answer of the main process to a request of the last one: a module whose
// import goes on in the background when its file ends would never load in that worker.
afterAll(() => vi.dynamicImportSettled());
