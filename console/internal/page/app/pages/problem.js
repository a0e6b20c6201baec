// Why there is no page at this address: the server has found out before the page could ask anything.
import { Problem } from "../api.js";
import { facts } from "../facts.js";
import { page } from "../frame.js";
import { problem } from "../ui.js";

const status = facts.code === "denied" ? 403 : 404;
page(() => problem(new Problem({ status, code: facts.code ?? "no-route" }), () => location.reload()));
