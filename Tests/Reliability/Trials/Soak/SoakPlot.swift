import Foundation

/// The figures of a soak over time, one below the other, as SVG.
struct SoakPlot {
  var samples: [SoakSample]
  private static let width = 760.0
  private static let height = 90.0
  private static let left = 150.0

  init(_ samples: [SoakSample]) { self.samples = samples }

  var svg: String {
    let figures = SoakFigure.all
    let total = Self.height * Double(figures.count) + 40
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(total))" \
      font-family="sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="white"/>

      """
    for (row, figure) in figures.enumerated() {
      text += panel(figure, top: Double(row) * Self.height + 10)
    }
    let minutes = (samples.last?.seconds ?? 0) / 60
    text += """
      <text x="\(Self.left)" y="\(total - 12)">0</text>
      <text x="\(Self.width - 10)" y="\(total - 12)" text-anchor="end">\
      \(String(format: "%.0f", minutes)) min</text>
      </svg>

      """
    return text
  }

  private func panel(_ figure: SoakFigure, top: Double) -> String {
    let values = samples.map(figure.value)
    let greatest = max(values.max() ?? 1, 1e-9)
    let end = max(samples.last?.seconds ?? 1, 1)
    let bottom = top + Self.height - 20
    let points = samples.map { sample in
      let x = Self.left + (Self.width - Self.left - 10) * sample.seconds / end
      let y = bottom - (Self.height - 30) * figure.value(sample) / greatest
      return String(format: "%.1f,%.1f", x, y)
    }
    return """
      <text x="8" y="\(top + 24)">\(figure.name)</text>
      <text x="8" y="\(top + 40)" fill="#666">up to \(String(format: "%.4g", greatest)) \
      \(figure.unit)</text>
      <line x1="\(Self.left)" x2="\(Self.width - 10)" y1="\(bottom)" y2="\(bottom)" stroke="#bbb"/>
      <polyline fill="none" stroke="#3a76b0" stroke-width="1.5" \
      points="\(points.joined(separator: " "))"/>

      """
  }
}
