import { page } from "../frame.js";
import { empty } from "../ui.js";

page(() => empty("…"));
