/** The product's entry: the app over the socket of the server that served the page. */
import "./styles.css";
import { openSocket } from "./api/socket";
import { keepFiles } from "./app/keep-files";
import { mount } from "./app/mount";

const root = document.getElementById("root");
if (root) void mount(root, openSocket);
keepFiles();
