import { processEnvironment } from "../../src/config/paths.js";
import { SETTINGS_SCHEMA } from "../../src/config/settings-schema.js";
import { errorText } from "../../src/errors.js";
import { SHIPPED_UPDATES } from "../../src/models/built-in-models.js";
import { networkOf } from "../../src/network/network.js";
import { refreshShippedList } from "./refresh-shipped-list.js";

// npm run models: refreshes the list of models that ships with pi. An argument names another catalog.
const [, , url = SETTINGS_SCHEMA.properties.models.properties.catalog.default] = process.argv;
const { pathname } = new URL(`../../src/models/${SHIPPED_UPDATES}`, import.meta.url);
const network = await networkOf(processEnvironment());
try {
	const lines = await network.run(() => refreshShippedList(url, pathname));
	process.stdout.write(`${lines.join("\n")}\n`);
} catch (error) {
	process.stderr.write(`The list was not refreshed: ${errorText(error)}\n`);
	process.exitCode = 1;
}
