internal import CloudKitModel

/// A printer of trees in the canonical format. Equal trees give the same text. Parsing the text
/// gives the tree again, with these exceptions:
///
/// - The text of blocks, assets and unsupported arguments cannot be parsed.
/// - A location keeps only its coordinates, and a reference loses its action.
/// - A value that is a list becomes ``PredicateTerm/aggregate(_:)``.
///
/// The style is Foundation's: symbols for comparisons, keywords in capitals, double quotes, and
/// parentheses around a compound inside another. Doubles keep their `.0`, so that they stay
/// doubles.
package enum PredicatePrinter {
  package static func text(_ node: PredicateNode) -> String {
    switch node {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): text(comparison)
    case .not(let inner): "NOT " + enclosed(inner)
    case .and(let nodes): nodes.map { enclosed($0) }.joined(separator: " AND ")
    case .or(let nodes): nodes.map { enclosed($0) }.joined(separator: " OR ")
    case .block: "BLOCKPREDICATE"
    }
  }

  private static func enclosed(_ node: PredicateNode) -> String {
    switch node {
    case .and, .or: "(\(text(node)))"
    default: text(node)
    }
  }

  package static func text(_ comparison: PredicateComparison) -> String {
    let modifier = comparison.modifier.map { $0.rawValue + " " } ?? ""
    let options = comparison.options.isEmpty ? "" : "[\(comparison.options)]"
    return "\(modifier)\(text(comparison.left)) \(comparison.comparison.rawValue)\(options) "
      + text(comparison.right)
  }

  package static func text(_ expression: PredicateTerm) -> String {
    switch expression {
    case .value(let value): text(value)
    case .null: "nil"
    case .selfObject: "SELF"
    case .keyPath(let keys): text(keys)
    case .path(let start, let keys):
      text(start) + keys.map { PredicateTerm.isIndex($0) ? $0 : "." + $0 }.joined()
    case .aggregate(let elements): "{\(list(elements))}"
    case .function(let name, let arguments): "\(name)(\(list(arguments)))"
    case .variable(let name): "$\(name)"
    case .subquery(let list, let variable, let condition):
      "SUBQUERY(\(text(list)), $\(variable), \(text(condition)))"
    case .unsupported(let description): "<\(description)>"
    }
  }

  private static func list(_ expressions: [PredicateTerm]) -> String {
    expressions.map { text($0) }.joined(separator: ", ")
  }

  /// Returns a key path with dots. A first key that is a reserved word gets a `#`.
  private static func text(_ keys: [String]) -> String {
    keys.enumerated().map { index, key in
      if PredicateTerm.isIndex(key) { return key }
      let isReserved = index == 0 && PredicateToken.reservedWords.contains(key.uppercased())
      return (index == 0 ? "" : ".") + (isReserved ? "#" : "") + key
    }.joined()
  }

  /// Returns the literal of a value, or its cast where the format has no literal.
  private static func text(_ value: RecordValue) -> String {
    switch value {
    case .string(let string): quoted(string)
    case .int64(let integer): String(integer)
    case .double(let double): String(double)
    case .timestamp(let date): PredicateCast.text(date)
    case .preciseTimestamp(let date): PredicateCast.text(date.timestamp)
    case .bytes(let data): PredicateCast.text(data)
    case .location(let location): PredicateCast.text(location)
    case .reference(let reference): PredicateCast.text(reference)
    case .asset(let asset): "<asset \(asset.fileChecksum)>"
    case .list(_, let values): "{\(values.map { text($0) }.joined(separator: ", "))}"
    }
  }

  /// Returns the string in double quotes, with escapes for quotes, backslashes, and control
  /// characters that have one.
  static func quoted(_ string: String) -> String {
    var result = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0": result += "\\0"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
