import Testing

@testable import petrel_bench

struct ServerFiguresTests {
  private let page = """
    # HELP saves_total Saves.
    saves_total{kind="a"} 3
    saves_total{kind="b"} 4
    delay_seconds_bucket{le="0.001"} 10
    delay_seconds_bucket{le="0.01"} 20
    delay_seconds_bucket{le="+Inf"} 20
    delay_seconds_sum 0.1
    delay_seconds_count 20
    """

  @Test("values with different labels, and of different servers, are added")
  func sums() {
    var figures = ServerFigures()
    figures.add(page)
    figures.add(page)
    #expect(figures["saves_total"] == 14)
    #expect(figures["none"] == nil)
    #expect(figures.mean(of: "delay_seconds") == 0.005)
  }

  @Test("a quantile lies within its range, as if the values there were spread evenly")
  func quantiles() {
    var figures = ServerFigures()
    figures.add(page)
    #expect(abs(figures.quantile(0.5, of: "delay_seconds") - 0.001) < 1e-9)
    #expect(abs(figures.quantile(0.75, of: "delay_seconds") - 0.0055) < 1e-9)
    #expect(figures.quantile(0.5, of: "none").isNaN)
  }

  @Test("the difference of two moments has what happened between them")
  func difference() {
    var (before, after) = (ServerFigures(), ServerFigures())
    before.add(page)
    after.add(page)
    after.add(
      "delay_seconds_bucket{le=\"0.01\"} 5\ndelay_seconds_bucket{le=\"+Inf\"} 5\nsaves_total 1")
    #expect((after - before)["saves_total"] == 1)
    #expect((after - before).quantile(0.5, of: "delay_seconds") > 0.001)
  }
}
