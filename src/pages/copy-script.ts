/**
 * The one script of the pages, on the developers' page alone: a button beside each text that people copy. Without scripts,
 * or where a browser lets nobody copy (on plain http), nothing of it is there, and nothing is missing.
 */
export const copyScript = `'use strict';
const { copy, copied } = document.currentScript.dataset;
const status = document.createElement('p');
status.className = 'unseen';
status.setAttribute('role', 'status');
document.body.append(status);
for (const place of navigator.clipboard ? document.querySelectorAll('.copyable') : []) {
  const text = place.querySelector('code').textContent;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = copy;
  button.setAttribute('aria-label', copy + ': ' + (place.dataset.label || text));
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = status.textContent = copied;
    setTimeout(() => {
      button.textContent = copy;
      status.textContent = '';
    }, 2000);
  });
  place.append(button);
}
`;
