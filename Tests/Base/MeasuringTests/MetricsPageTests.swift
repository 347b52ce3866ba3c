import Testing

@testable import Measuring

struct MetricsPageTests {
  @Test("each name has its help and type once, and its samples below")
  func samples() {
    var page = MetricsPage()
    page.counter("a_total", "What a is.", 3)
    page.gauge("b", "What b is.", [.init([("x", "1"), ("y", "2")], 0.25), .init([], -1)])
    page.gauge("c", "Not there.", [MetricsPage.Sample]())
    #expect(
      page.text == """
        # HELP a_total What a is.
        # TYPE a_total counter
        a_total 3
        # HELP b What b is.
        # TYPE b gauge
        b{x="1",y="2"} 0.25
        b -1

        """)
  }

  @Test("a histogram's ranges are summed up, and the last is infinite")
  func histogram() {
    var histogram = Histogram(bounds: [0.5, 1])
    for value in [0.1, 0.5, 0.75, 3] { histogram.record(value) }
    var page = MetricsPage()
    page.histogram("h_seconds", "Times.", [([("step", "one")], histogram)])
    #expect(
      page.text == """
        # HELP h_seconds Times.
        # TYPE h_seconds histogram
        h_seconds_bucket{step="one",le="0.5"} 2
        h_seconds_bucket{step="one",le="1"} 3
        h_seconds_bucket{step="one",le="+Inf"} 4
        h_seconds_sum{step="one"} 4.35
        h_seconds_count{step="one"} 4

        """)
  }

  @Test("backslashes, line breaks and quotes are escaped where they would end something")
  func escapes() {
    var page = MetricsPage()
    page.gauge("g", "a \"b\" \\ c\nd", [.init([("l", "a \"b\" \\ c\nd")], Double.nan)])
    #expect(
      page.text == #"# HELP g a "b" \\ c\nd"# + "\n# TYPE g gauge\n"
        + #"g{l="a \"b\" \\ c\nd"} NaN"# + "\n")
  }

  @Test("numbers that no decimal stands for have their names")
  func numbers() {
    var page = MetricsPage()
    page.gauge(
      "g", "h", [.init([], Double.infinity), .init([], -Double.infinity), .init([], 1e-7)])
    #expect(page.text.hasSuffix("g +Inf\ng -Inf\ng 1e-07\n"))
  }
}
