import Foundation
import Storage
import StoreModel

/// The move of a whole store from one engine to another, with the files of its assets.
///
/// Rows are copied unchanged, table by table in the order of the primary key, in transactions of
/// bounded size. Each transaction also stores the progress in the target, so an interrupted move
/// continues where it stopped. At the end all rows of both stores are compared.
///
/// Numbers, change tokens, sessions and keys stay the same. So the source must not be served any
/// more: clients of both stores would get the same numbers for different changes.
public enum StoreMove {
  /// The progress of a move.
  public struct Progress: Sendable, Hashable {
    /// The stages of a move, in order.
    public enum Stage: Sendable, Hashable {
      /// Rows are copied.
      case copying
      /// Asset files are copied.
      case copyingAssets
      /// The rows of both stores are read and compared.
      case comparing
    }

    /// The present stage.
    public var stage = Stage.copying
    /// The table being copied or compared.
    public var table = ""
    /// The table's position, counted from 1.
    public var tableNumber = 0
    /// The number of all tables.
    public var tables = 0
    /// The number of rows of all tables in this stage.
    public var rows = 0
    /// The number of asset files examined so far.
    public var assets = 0

    /// The progress before the first row.
    public init() {}
  }

  /// The contents of both stores after a move.
  public struct Result: Sendable, Hashable {
    /// A table that is the same in both stores.
    public struct Table: Sendable, Hashable {
      /// The table's name.
      public var name: String
      /// The number of its rows.
      public var rows: Int
      /// The digest of all columns of all rows in the order of the primary key, in hexadecimal
      /// digits; the same for all engines.
      public var digest: String
    }

    /// The tables in the order of their names.
    public var tables: [Table] = []
    /// The number of asset files.
    public var assets = 0
    /// The bytes of these files.
    public var assetBytes: Int64 = 0
    /// The names of files that the source had lost before the move, at most a hundred.
    public var missingAssets: [String] = []
    /// Whether this move continued an interrupted one.
    public var isContinued = false

    /// A result without contents, to which the move adds.
    public init() {}

    /// The number of rows of all tables.
    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
  }

  /// The limits at which a transaction is committed. The first limit that is reached counts.
  struct BatchLimits: Sendable {
    /// The most rows of a transaction.
    var rows = 50_000
    /// The bytes of rows at which a transaction ends.
    var bytes = 8 << 20
  }

  /// Moves a store to a place where there is none, or continues an interrupted move.
  ///
  /// - Parameter progress: called for every batch, on a thread of its own.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no store at the source, if it has an
  ///   older version, or if a program has it or the target open; ``StoreError/Code/newerSchema`` if
  ///   a newer Petrel wrote it; ``StoreError/Code/exists`` if the target contains something other
  ///   than an unfinished move of the same store; ``StoreError/Code/corrupt`` if the stores differ
  ///   at the end.
  public static func run(
    from source: StoreLocation, to target: StoreLocation,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> Result {
    try await run(from: source, to: target, limits: BatchLimits(), progress: progress)
  }

  /// Moves a store with limits that tests choose.
  ///
  /// - Parameter committed: called after each commit of rows; an error that it throws ends the
  ///   move.
  static func run(
    from source: StoreLocation, to target: StoreLocation, limits: BatchLimits,
    committed: @escaping @Sendable (Progress) throws -> Void = { _ in },
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> Result {
    try await SQLStore.onThread {
      guard source != target else {
        throw StoreError(.exists, "source and target are the same place")
      }
      let source = try StoreMoveEnd(source: source)
      defer { source.connection.close() }
      let target = try StoreMoveEnd(target: target, of: source)
      defer { target.connection.close() }
      let mover = StoreMover(
        source: source, target: target, limits: limits, committed: committed, report: progress)
      return try mover.run()
    }
  }
}
