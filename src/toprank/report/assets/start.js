startTheme();
startCharts();
startCutOff();
startList();
document.documentElement.dataset.ready = Math.round(performance.now());
