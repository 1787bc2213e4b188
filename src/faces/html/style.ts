/**
 * The one style sheet, inline in each page: a page before the sign-in may load nothing else. It fits 360 px, and
 * follows the light or dark scheme of the system. The pages of decision links have 6 KB with it.
 */
export const STYLE = `:root{color-scheme:light dark;--ink:light-dark(#14181d,#e8ecf1);\
--soft:light-dark(#4b5560,#a9b4c0);--edge:light-dark(#7d8691,#6b7682);--fail:light-dark(#a51200,#f54123);\
--run:light-dark(#1561c5,#77beff);font:1rem/1.5 system-ui,sans-serif}
*{box-sizing:border-box}
body{margin:0;background:light-dark(#fff,#0e1116);color:var(--ink)}
main{max-width:30rem;margin:auto;\
padding:1rem max(1rem,env(safe-area-inset-right)) 2rem max(1rem,env(safe-area-inset-left))}
p,h1,h2,ul{margin:0 0 .75rem;overflow-wrap:anywhere}
h1{font-size:1.375rem;line-height:1.25;font-weight:650;text-wrap:balance}
.on,label small{color:var(--soft)}
.on{font-size:.8125rem;margin:0 0 .25rem}
section{margin:0 0 .75rem;padding:.75rem;border-radius:.5rem;background:light-dark(#f6f7f9,#161b22)}
h2{margin:0 0 .5rem;font-size:1rem;font-weight:650;color:var(--fail)}
section ul{margin:0;padding:0;list-style:none;font:.8125rem/1.5 ui-monospace,monospace}
section li{display:grid;grid-template-columns:3ch 1fr;gap:1ch}
section li+li{margin-top:.25rem}
b{color:var(--fail)}
dl{margin:0 0 .75rem}
dt{color:var(--soft);font-size:.8125rem}
dd{margin:0 0 .5rem;overflow-wrap:anywhere}
form+.on{margin-top:1rem}
a{color:var(--run)}
[role=alert]{padding:.5rem .75rem;border-left:4px solid var(--fail)}
label,textarea,button{display:block}
label{margin:0 0 .25rem}
input,textarea,button{width:100%;min-height:48px;padding:.625rem .75rem;border:1px solid var(--edge);\
border-radius:.375rem;background:light-dark(#fff,#161b22);color:inherit;font:inherit}
textarea{resize:vertical}
button{margin-top:1rem;font-weight:650;cursor:pointer}
.yes{border-color:transparent;background:var(--run);color:light-dark(#fff,#0e1116)}
.danger{border-color:transparent;background:light-dark(#a51200,#c93114);color:#fff}
:focus-visible{outline:2px solid var(--run);outline-offset:2px}`;
