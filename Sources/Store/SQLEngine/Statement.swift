/// A statement, with parameters `$1`, `$2`, ….
///
/// A connection finds a prepared statement by its text, so texts are made once. A statement on
/// tables of a store names the database of its rows, and finds them by an index. The tests check
/// both on each engine, except for its ``traits``.
///
/// ```swift
/// let count: Statement = "SELECT COUNT(*) FROM zones WHERE database_id = $1"
/// let databases = "SELECT DISTINCT database_id FROM zones".except([.everyDatabase, .wholeTable])
/// ```
package struct Statement: Sendable, ExpressibleByStringInterpolation {
  package let text: String
  package let traits: Traits

  package init(stringLiteral text: String) { self.init(text) }

  package init(_ text: String, _ traits: Traits = []) {
    self.text = text
    self.traits = traits
  }

  /// The rules that do not hold for a statement.
  package struct Traits: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reads rows of all databases, which may be on several nodes: for retention, background work
    /// and people, not for requests of clients.
    package static let everyDatabase = Traits(rawValue: 1)
    /// Does not run on a distributed store.
    package static let undistributed = Traits(rawValue: 2)
    /// Reads a whole table or index: a small table, or on behalf of retention and people.
    package static let wholeTable = Traits(rawValue: 4)
    package static let onSQLite = Traits(rawValue: 8)
    package static let onPostgreSQL = Traits(rawValue: 16)
  }
}

extension String {
  package func except(_ traits: Statement.Traits) -> Statement { Statement(self, traits) }
}

/// A statement that can lock the rows that it finds, where other connections can write.
package struct LockingStatement: Sendable {
  private let plain, locking: Statement

  /// The lock is a clause such as ` FOR KEY SHARE` at the end.
  package init(_ text: String, lock: String, _ traits: Statement.Traits = []) {
    plain = Statement(text, traits)
    locking = Statement(text + lock, traits.union(.onPostgreSQL))
  }

  package func callAsFunction(locking isLocking: Bool) -> Statement { isLocking ? locking : plain }
}
