import CommandInterface
import JSONCoding

/// A list of the admin API, which comes in pages.
struct Listing {
  static let limitOption = Arguments.Option(
    "limit", "NUMBER", "rows at most, or 'all' (default 50)")

  /// Rows of a page at most.
  private static let pageSize = 200

  /// What the rows are called, and the member of an answer that holds them.
  var name: String
  var columns: [Table.Column]
  /// What is printed for people where there are no rows.
  var emptiness: String
  /// Reads a page: so many rows at most, from a continuation on.
  var page:
    (_ limit: Int, _ continuation: String?) async throws -> (
      rows: [JSONValue], next: String?
    )

  /// Reads and prints as `--limit` and `--json` say: without `--json` a table; with it an object, or for
  /// `--limit all` a line for each row.
  func show(_ arguments: Arguments) async throws {
    let limit = try Self.limit(arguments)
    let isJSON = arguments.flag("json")
    var table = Table(columns)
    var gathered: [JSONValue] = []
    var count = 0
    var next: String?
    repeat {
      let size = min(Self.pageSize, (limit ?? .max) - count)
      let answer = try await page(size, next)
      count += answer.rows.count
      next = answer.next
      if !isJSON {
        table.print(answer.rows)
      } else if limit == nil {
        for row in answer.rows { Output.line(row.text) }
      } else {
        gathered += answer.rows
      }
    } while next != nil && count < limit ?? .max
    if isJSON, limit != nil {
      let object: JSONValue = [name: .array(gathered), "moreComing": .bool(next != nil)]
      Output.line(object.text)
    }
    guard !isJSON else { return }
    if count == 0 { Output.line(emptiness) }
    if next != nil { Output.complain("there are more \(name); --limit all shows them") }
  }

  /// The value of `--limit`; nil for all.
  private static func limit(_ arguments: Arguments) throws -> Int? {
    guard let text = arguments.string("limit") else { return 50 }
    if text == "all" { return nil }
    guard let limit = Int(text), limit > 0 else {
      throw UsageError("--limit must be a whole number above 0, or 'all', not '\(text)'")
    }
    return limit
  }
}

extension Listing {
  /// A list that is read with `GET` and goes on with `continuation`.
  init(
    _ name: String, of path: String, _ query: [String: String?], by access: any AdminAccess,
    emptiness: String, _ columns: [Table.Column]
  ) {
    self.init(name: name, columns: columns, emptiness: emptiness) { limit, continuation in
      var query = query
      query["limit"] = String(limit)
      query["continuation"] = continuation
      let answer = try await access.get(path, query)
      return (answer[name]?.array ?? [], answer["continuation"]?.string)
    }
  }
}
