import Foundation

/// A way in which a server's life ends, or is made hard.
enum Strike: Hashable {
  /// Killed from outside at any moment.
  case anyMoment
  /// Killed before, after, or in the middle of what it does to its disk.
  case disk(DiskControl.Fault)
  /// Killed at a point in its code.
  case point(String)
  /// Its disk fails for a while; then it is killed.
  case fault(DiskControl.Fault)
  /// PostgreSQL is stopped as by a loss of power, and comes back.
  case postgreSQL
  /// PostgreSQL's disk fails for a while.
  case postgreSQLDisk(DiskControl.Fault)

  var name: String {
    switch self {
    case .anyMoment: "killed at any moment"
    case .disk(.killBeforeSync): "killed before a sync"
    case .disk(.killAfterSync): "killed after a sync"
    case .disk: "killed in a write"
    case .point(let name): "killed at \(name)"
    case .fault(.full): "disk full"
    case .fault(.fullAnywhere): "disk full, for writing over too"
    case .fault(.writeError): "writes fail"
    case .fault(.syncError): "syncs fail"
    case .fault(.forgettingSync): "syncs fail, and forget"
    case .fault(.readError): "reads fail"
    case .fault: "syncs that lie"
    case .postgreSQL: "PostgreSQL killed"
    case .postgreSQLDisk(let fault): "PostgreSQL: " + Strike.fault(fault).name
    }
  }

  /// All that there are on an engine.
  static func all(on engine: Installation.Engine, points: [String]) -> [Strike] {
    let killed: [Strike] = [.anyMoment] + points.map { .point($0) }
    return switch engine {
    case .sqlite:
      killed + [
        .anyMoment, .disk(.killBeforeSync), .disk(.killAfterSync), .disk(.killInWrite),
        .fault(.full), .fault(.fullAnywhere), .fault(.writeError), .fault(.syncError),
        .fault(.forgettingSync), .fault(.readError),
      ]
    case .postgresql:
      killed + [.anyMoment, .postgreSQL, .postgreSQL]
        + [.full, .writeError, .syncError, .readError].map { .postgreSQLDisk($0) }
    }
  }
}
