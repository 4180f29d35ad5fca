// Leaves out what was left empty in a form, and puts the service's own address into the commands.
(() => {
  "use strict";
  for (const form of document.forms) {
    form.hidden = false;
    form.addEventListener("formdata", ({ formData }) => {
      for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
    });
  }
  const here = location.href.replace(/\/docs(?:[?#].*)?$/, "");
  for (const place of document.querySelectorAll("[data-here]")) place.textContent = here;
})();
