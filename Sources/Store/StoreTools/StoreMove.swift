import Foundation
import Storage
import StoreModel

/// The move of a whole store from one engine to another, with the files of its assets.
///
/// Rows are copied unchanged: table by table, in the order of the primary key, in transactions of
/// limited size. Each transaction also stores the progress in the target, so a later call can
/// continue an interrupted move. At the end, all rows of both stores are compared.
///
/// Numbers, change tokens, sessions and keys stay the same. If a server opened the source again,
/// two stores would give the same numbers to different changes.
public enum StoreMove {
  /// The progress of a move.
  public struct Progress: Sendable, Hashable {
    /// The stages of a move, in order.
    public enum Stage: Sendable, Hashable {
      case copying
      case copyingAssets
      case comparing
    }

    /// The present stage.
    public var stage = Stage.copying
    /// The table that is copied or compared now.
    public var table = ""
    /// The table's number, counted from 1; 0 before the first.
    public var tableNumber = 0
    /// The number of tables to copy and compare.
    public var tables = 0
    /// The rows copied so far; in the stage ``Stage/comparing``, those compared so far.
    public var rows = 0
    /// The number of asset files examined so far.
    public var assets = 0

    /// The progress before the first row.
    public init() {}
  }

  /// The contents of both stores after a move.
  public struct Result: Sendable, Hashable {
    /// A table that has the same rows in both stores.
    public struct Table: Sendable, Hashable {
      /// The table's name.
      public var name: String
      /// The number of its rows.
      public var rows: Int
      /// SHA-256 in hexadecimal digits, of the digests of each 1,024 rows in the order of the
      /// primary key. The same for all engines.
      public var digest: String
    }

    /// The tables in the order of their names.
    public var tables: [Table] = []
    /// The number of asset files in both stores.
    public var assets = 0
    /// The bytes of these files.
    public var assetBytes: Int64 = 0
    /// The names of asset files that were already missing in the source; at most 100.
    public var missingAssets: [String] = []
    /// Whether this call continued an interrupted move, or found a complete one.
    public var isContinued = false

    /// Creates a result without contents.
    public init() {}

    /// The number of rows in all tables.
    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
  }

  /// A transaction of copied rows is committed at one of these limits.
  struct BatchLimits: Sendable {
    var rows = 50_000
    var bytes = 8 << 20
  }

  /// Moves a store to a place where there is no store, or continues an interrupted move.
  ///
  /// - Parameter progress: called after each commit of rows, each asset file, and each 1,024
  ///   compared rows, on the thread of the move.
  /// - Throws:
  ///   - ``StoreError/Code/cannotOpen`` if there is no store at the source, if the source has an
  ///     older schema version or a database that is dispatched in parts, or if a program has one of
  ///     the stores open.
  ///   - ``StoreError/Code/newerSchema`` if a newer Petrel wrote the source.
  ///   - ``StoreError/Code/exists`` if the target has contents other than an unfinished or complete
  ///     move of the same store, or if the source was changed since the move began.
  ///   - ``StoreError/Code/assetFailed`` if an asset file has another size than the store says.
  ///   - ``StoreError/Code/corrupt`` if the stores differ at the end.
  public static func run(
    from source: StoreLocation, to target: StoreLocation,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> Result {
    try await run(from: source, to: target, limits: BatchLimits(), progress: progress)
  }

  /// Tests pass limits, and end the move by an error of `committed`, called after each commit of
  /// rows.
  static func run(
    from source: StoreLocation, to target: StoreLocation, limits: BatchLimits,
    committed: @escaping @Sendable (Progress) throws -> Void = { _ in },
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> Result {
    try await Store.onThread {
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
