import CommandInterface
import JSONCoding
import Settings

/// The report of `petrel doctor`.
struct DoctorReport: Sendable {
  /// The findings of one check.
  struct Section: Sendable {
    var check: String
    var findings: [Finding]
  }

  /// The checks that have findings, in the order of the report.
  var sections: [Section]

  /// Returns the number of findings with a mark (`ok`, `warning` or `problem`).
  private func count(_ mark: Finding.Mark) -> Int {
    sections.reduce(0) { $0 + $1.findings.count { $0.mark == mark } }
  }

  /// Whether no finding is a problem. Warnings are permitted.
  var isSound: Bool { count(.problem) == 0 }

  /// The report as JSON: `{"status": …, "findings": [{"check": …, "mark": …, "finding": …,
  /// "advice": …}]}`. The status is the worst mark; it is `ok` without findings.
  var json: JSONValue {
    let findings = sections.flatMap { section in
      section.findings.map { finding in
        var members: [String: JSONValue] = [
          "check": .string(section.check), "mark": .string(finding.mark.rawValue),
          "finding": .string(finding.text),
        ]
        if let advice = finding.advice { members["advice"] = .string(advice) }
        return JSONValue.object(members)
      }
    }
    let worst = Finding.Mark.allCases.last { count($0) > 0 } ?? .ok
    return ["status": .string(worst.rawValue), "findings": .array(findings)]
  }

  /// Returns the report for people: a line for each finding, and the advice below it.
  func text(_ style: TextStyle) -> String {
    let width = Finding.Mark.allCases.map(\.rawValue.count).max() ?? 0
    var lines: [String] = []
    for section in sections {
      lines.append(style.strong(section.check))
      for finding in section.findings {
        let mark = finding.mark.rawValue.padding(to: width)
        lines.append("  \(style.marked(mark, finding.mark))  \(finding.text)")
        if let advice = finding.advice {
          lines.append("  \(String(repeating: " ", count: width))  → \(advice)")
        }
      }
    }
    lines.append("")
    let (problems, warnings) = (count(.problem), count(.warning))
    lines.append(
      problems + warnings == 0
        ? "All is well."
        : [Self.number(problems, "problem"), Self.number(warnings, "warning")]
          .compactMap { $0 }.joined(separator: ", "))
    return lines.joined(separator: "\n") + "\n"
  }

  private static func number(_ count: Int, _ what: String) -> String? {
    count == 0 ? nil : count.counting(what)
  }
}
