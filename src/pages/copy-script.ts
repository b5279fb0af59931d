/**
 * The script of pages with values to copy: a button beside each text that people copy. Without scripts,
 * or if the browser forbids copying (on plain http), there are no buttons.
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
