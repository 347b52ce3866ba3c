import Foundation
import ScaleModel

/// The plot of `petrel-bench simulate`, as SVG. It has colours for light and for dark pages.
struct ScalePlot {
  let curves: ScaleAnswer.Curves
  let title: String

  private static let width = 760.0
  private static let left = 70.0
  private static let right = 200.0
  private static let height = 210.0
  private static let top = 62.0
  private static let gap = 92.0

  /// A curve of a panel, with its name in the legend.
  private struct Line {
    var name: String
    var style: String
    var points: [(Double, Double)]
  }

  /// A diagram with its axes and curves.
  private struct Panel {
    var title: String
    var horizontal: String
    var vertical: String
    var lines: [Line]
    /// Whether the vertical axis is logarithmic.
    var isLogarithmic = false
    var range: ClosedRange<Double>
    /// A vertical line at the value `x` of the horizontal axis, with a text beside the line; `nil`
    /// for none.
    var mark: (x: Double, text: String)?
  }

  /// - Parameter rate: The requested saves a second. The first two panels have a mark at this rate.
  func svg(rate: Double) -> String {
    let panels = self.panels(rate: rate)
    let total = Self.top + Double(panels.count) * (Self.height + Self.gap)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(total))" \
      width="\(Int(Self.width))" font-family="Helvetica,Arial,sans-serif" font-size="12">
      <style>
      text { fill: #24292f } .axis { stroke: #8c959f; stroke-width: 1; fill: none }
      .grid { stroke: #d0d7de; stroke-width: 0.7 } .line { fill: none; stroke-width: 2.2 }
      .a { stroke: #0969da } .b { stroke: #bc4c00 } .c { stroke: #1a7f37 }
      text.a { fill: #0969da; stroke: none } text.b { fill: #bc4c00; stroke: none }
      text.c { fill: #1a7f37; stroke: none }
      .thin { stroke-dasharray: 5 4 } .mark { stroke: #cf222e; stroke-dasharray: 2 3 }
      .page { fill: #ffffff }
      @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .axis { stroke: #7d8590 } .grid { stroke: #30363d } .page { fill: #0d1117 }
      .a { stroke: #58a6ff } .b { stroke: #f0883e } .c { stroke: #56d364 }
      text.a { fill: #58a6ff } text.b { fill: #f0883e } text.c { fill: #56d364 }
      .mark { stroke: #ff7b72 } }
      </style>
      <rect class="page" width="100%" height="100%" rx="6"/>
      <text x="\(Self.left)" y="28" font-size="15" font-weight="bold">\(title)</text>

      """
    for (place, panel) in panels.enumerated() {
      text += draw(panel, at: Self.top + Double(place) * (Self.height + Self.gap))
    }
    return text + "</svg>\n"
  }

  private func panels(rate: Double) -> [Panel] {
    let points = curves.points
    func line(
      _ name: String, _ style: String,
      _ value: (ScaleResult, CapacityFormulas.Load) -> Double
    ) -> Line {
      Line(name: name, style: style, points: points.map { ($0.rate, value($0.result, $0.load)) })
    }
    var panels = [
      Panel(
        title: "Delays", horizontal: "incoming saves a second",
        vertical: "milliseconds",
        lines: [
          line("save answered, p50", "a") { result, _ in result.saveDelay.quantile(0.5) * 1000 },
          line("save answered, p99", "a thin") { result, _ in
            result.saveDelay.quantile(0.99) * 1000
          },
          line("save to log, p50", "b") { result, _ in result.dispatchDelay.quantile(0.5) * 1000 },
          line("save to log, p99", "b thin") { result, _ in
            result.dispatchDelay.quantile(0.99) * 1000
          },
        ], isLogarithmic: true, range: 1...100_000, mark: (rate, "target")),
      Panel(
        title: "Utilization", horizontal: "incoming saves a second",
        vertical: "fraction of the time",
        lines: [
          line("servers' processors", "a") { result, _ in result.serverUtilization },
          line("by the formula", "a thin") { _, load in min(1, load.serverProcessors) },
          line("shards' processors", "b") { result, _ in result.shardUtilization },
          line("by the formula", "b thin") { _, load in min(1, load.shardProcessors) },
          line("busiest public row", "c") { result, _ in result.lockUtilization },
        ], range: 0...1, mark: (rate, "target")),
    ]
    if let death = curves.death {
      let moments = death.moments.map { ($0.second - curves.deathSecond, $0) }
        .filter { $0.0 >= -3 }
      let most = Double(moments.map(\.1.waitingChanges).max() ?? 1)
      panels.append(
        Panel(
          title: "When a server crashes", horizontal: "seconds after the crash",
          vertical: "waiting changes",
          lines: [
            Line(
              name: "all databases", style: "a",
              points: moments.map { ($0.0, Double($0.1.waitingChanges)) }),
            Line(
              name: "of the crashed server", style: "b",
              points: moments.map { ($0.0, Double($0.1.orphanedChanges)) }),
          ], range: 0...Self.roundedUp(most), mark: (0, "")))
    }
    return panels
  }

  /// Returns the smallest number of the series 1, 2, 5, 10, 20, 50 and so on that is at least
  /// `value`; 1 for a value below 1.
  private static func roundedUp(_ value: Double) -> Double {
    let power = pow(10, log10(max(1, value)).rounded(.down))
    return [1, 2, 5, 10].map { $0 * power }.first { $0 >= value } ?? value
  }

  /// - Parameter top: The vertical position of the panel's upper edge.
  private func draw(_ panel: Panel, at top: Double) -> String {
    let (left, right) = (Self.left, Self.width - Self.right)
    let bottom = top + Self.height
    let all = panel.lines.flatMap(\.points).map(\.0)
    let (first, last) = (min(0, all.min() ?? 0), all.max() ?? 1)
    func x(_ value: Double) -> Double { left + (value - first) / (last - first) * (right - left) }
    func y(_ value: Double) -> Double {
      let (low, high) = (panel.range.lowerBound, panel.range.upperBound)
      let value = min(high, max(low, value))
      let part =
        panel.isLogarithmic
        ? log(value / low) / log(high / low) : (value - low) / (high - low)
      return bottom - part * Self.height
    }
    func number(_ value: Double) -> String { String(format: "%.1f", value) }
    var text =
      "<text x=\"\(left)\" y=\"\(number(top - 12))\" font-weight=\"bold\">\(panel.title)</text>\n"
    for tick in ticks(panel) {
      text +=
        "<path class=\"grid\" d=\"M\(left) \(number(y(tick)))H\(right)\"/>"
        + "<text x=\"\(left - 8)\" y=\"\(number(y(tick) + 4))\" text-anchor=\"end\">"
        + "\(label(tick))</text>\n"
    }
    let step = Self.roundedUp((last - first) / 8)
    for tick in stride(from: (first / step).rounded(.up) * step, through: last, by: step) {
      text +=
        "<path class=\"axis\" d=\"M\(number(x(tick))) \(number(bottom))v5\"/>"
        + "<text x=\"\(number(x(tick)))\" y=\"\(number(bottom + 19))\" text-anchor=\"middle\">"
        + "\(label(tick))</text>\n"
    }
    text += "<path class=\"axis\" d=\"M\(left) \(number(top))V\(number(bottom))H\(right)\"/>\n"
    text +=
      "<text x=\"\(number((left + right) / 2))\" y=\"\(number(bottom + 37))\" "
      + "text-anchor=\"middle\">\(panel.horizontal)</text>\n"
    text +=
      "<text transform=\"translate(16 \(number((top + bottom) / 2))) rotate(-90)\" "
      + "text-anchor=\"middle\">\(panel.vertical)</text>\n"
    if let mark = panel.mark {
      text +=
        "<path class=\"mark\" d=\"M\(number(x(mark.x))) \(number(top))V\(number(bottom))\"/>"
        + "<text x=\"\(number(x(mark.x) + 4))\" y=\"\(number(top + 12))\">\(mark.text)</text>\n"
    }
    for (place, line) in panel.lines.enumerated() {
      let points = line.points.filter { $0.1.isFinite }
        .map { "\(number(x($0.0))),\(number(y($0.1)))" }
      text +=
        "<polyline class=\"line \(line.style)\" points=\"\(points.joined(separator: " "))\"/>\n"
      let row = top + 14 + Double(place) * 20
      text +=
        "<path class=\"line \(line.style)\" d=\"M\(right + 14) \(number(row - 4))h24\"/>"
        + "<text class=\"\(line.style.prefix(1))\" x=\"\(right + 44)\" y=\"\(number(row))\">"
        + "\(line.name)</text>\n"
    }
    return text
  }

  /// Returns the values of the vertical axis that get a grid line.
  private func ticks(_ panel: Panel) -> [Double] {
    let (low, high) = (panel.range.lowerBound, panel.range.upperBound)
    guard panel.isLogarithmic else { return (0...4).map { low + Double($0) / 4 * (high - low) } }
    return Array(sequence(first: low) { $0 * 10 <= high * 1.001 ? $0 * 10 : nil })
  }

  /// Returns a number as short text, such as `50k`.
  private func label(_ value: Double) -> String {
    // A tick may be -0, which would be printed with a sign.
    if value == 0 { return "0" }
    if abs(value) < 1 { return String(format: "%g", value) }
    if abs(value) >= 1e6 { return String(format: "%gM", value / 1e6) }
    if abs(value) >= 1e3 { return String(format: "%gk", value / 1e3) }
    return String(format: "%g", value)
  }
}
