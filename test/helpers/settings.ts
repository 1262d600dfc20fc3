import { fillDefaults } from "../../src/config/json-schema.js";
import { SETTINGS_SCHEMA, type Settings } from "../../src/config/settings-schema.js";

/** The default settings. */
export const defaultSettings = (): Settings => fillDefaults(SETTINGS_SCHEMA, {});
