import { HookPage } from "./hook-page.js";

new HookPage("strategies.md").testCode({});
