import Cryptography
import SQLEngine
import StoreModel

/// The comparison of one table in two stores, in the order of the primary key.
///
/// Each store is read once, into a SHA-256 digest for each 1,024 rows: a *chunk*. So it needs 32
/// bytes and a key of memory for each chunk. The rows of the first chunk that differs are read
/// again.
struct StoreComparison {
  private static let chunk = 1_024

  /// The digests of the table in one store.
  private struct Digests {
    var rows = 0
    var chunks: [[UInt8]] = []
    /// The key of the last row of each full chunk (`CanonicalRow`).
    var ends: [[UInt8]] = []
  }

  let table: SQLTable
  let source, target: any SQLConnection

  /// Returns the number of rows and the common digest.
  ///
  /// - Parameter step: gets the number of rows after each chunk of the source.
  /// - Throws: ``StoreError/Code/corrupt`` with the first row that differs.
  func run(_ step: (Int) -> Void) throws -> StoreMove.Result.Table {
    let ours = try digests(source, step)
    let theirs = try digests(target) { _ in }
    guard ours.chunks == theirs.chunks else { throw try difference(ours, theirs) }
    let hasher = SHA256Hasher()
    for chunk in ours.chunks { hasher.update(chunk) }
    return StoreMove.Result.Table(
      name: table.name, rows: ours.rows, digest: hasher.finish().hexadecimal)
  }

  private func digests(_ connection: any SQLConnection, _ step: (Int) -> Void) throws -> Digests {
    var digests = Digests()
    var hasher = SHA256Hasher()
    var bytes: [UInt8] = []
    var count = 0
    var end: [UInt8] = []
    func finishChunk() {
      digests.chunks.append(hasher.finish())
      digests.ends.append(end)
      digests.rows += count
      step(count)
      hasher = SHA256Hasher()
      count = 0
    }
    try connection.query(table.selection(), []) { row in
      bytes.removeAll(keepingCapacity: true)
      CanonicalRow.append(row, table.columns, to: &bytes)
      hasher.update(bytes)
      count += 1
      guard count == Self.chunk else { return }
      end.removeAll()
      CanonicalRow.append(row, table.key, to: &end)
      finishChunk()
    }
    if count > 0 { finishChunk() }
    return digests
  }

  // MARK: Differences

  /// A row's key and SHA-256 digest.
  private struct Row {
    var key: [SQLValue]
    var digest: [UInt8]
  }

  private func difference(_ ours: Digests, _ theirs: Digests) throws -> StoreError {
    let index =
      zip(ours.chunks, theirs.chunks).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      ?? min(ours.chunks.count, theirs.chunks.count)
    // The chunks before `index` are equal and have 1,024 rows each.
    let start = index == 0 ? nil : CanonicalRow.values(of: ours.ends[index - 1])
    let mine = try rows(source, after: start)
    let other = try rows(target, after: start)
    let place =
      (0..<max(mine.count, other.count)).first { row in
        guard row < mine.count, row < other.count else { return true }
        return mine[row].digest != other[row].digest
      } ?? 0
    let first = place < mine.count ? mine[place].key : nil
    let second = place < other.count ? other[place].key : nil
    let what: String
    if let first, let second, first == second {
      what = "the row with \(table.description(of: first)) differs"
    } else {
      what =
        "where the source has \(first.map { table.description(of: $0) } ?? "no more rows"), the target "
        + "has \(second.map { table.description(of: $0) } ?? "no more")"
    }
    return StoreError(
      .corrupt,
      "table '\(table.name)' differs: it has \(ours.rows) rows in the source and \(theirs.rows) in the "
        + "target; first, \(what). The target cannot be used; empty it and start again")
  }

  private func rows(_ connection: any SQLConnection, after key: [SQLValue]?) throws -> [Row] {
    try connection.rows(
      table.selection(follows: key != nil, limit: Self.chunk), key ?? []
    ) { row in
      var bytes: [UInt8] = []
      CanonicalRow.append(row, table.columns, to: &bytes)
      let hasher = SHA256Hasher()
      hasher.update(bytes)
      return Row(key: table.key(of: row), digest: hasher.finish())
    }
  }
}
