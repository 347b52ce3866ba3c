// Who followed a link into the console comes to where it leads after signing in.
const form = document.querySelector('form');
form.action = `/console/sign-in${location.hash}`;
