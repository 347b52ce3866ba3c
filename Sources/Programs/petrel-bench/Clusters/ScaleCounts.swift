import CommandInterface
import Foundation
import JSONCoding
import ScaleModel
import Settings

/// The figures of `petrel-bench cluster --json`, as the input of the model in `ScaleModel`.
struct ScaleCounts {
  /// The number of private databases with subscriptions.
  var databases = 100
  /// The fraction of the saves that go into the public database, 0 to 1.
  var publicShare = 0.1
  var cores = 2
  var writers = 4
  var cases: [MeasuredCase] = []

  /// Reads the figures from a file. The defaults above replace missing figures of the whole
  /// benchmark.
  ///
  /// - Throws: `InputFile.Failure` if the file cannot be read, `UsageError` if a measurement lacks a
  ///   figure.
  init(file: String) throws {
    let data = try InputFile.contents(of: file)
    let json: JSONValue
    do {
      json = try JSONValue(parsing: data)
    } catch {
      throw UsageError("'\(file)' is not JSON: \(error)")
    }
    guard json["benchmark"] == "cluster", let rows = json["measurements"]?.array, !rows.isEmpty
    else { throw UsageError("'\(file)' has no figures of 'petrel-bench cluster --json'") }
    databases = json["databases"]?.int.map { Int($0) } ?? databases
    publicShare = (json["publicPercent"]?.double ?? 10) / 100
    cores = json["cores"]?.int.map { Int($0) } ?? cores
    writers = json["writersPerServer"]?.int.map { Int($0) } ?? writers
    let connections = json["connectionsPerServer"]?.int.map { Int($0) } ?? 16
    for row in rows {
      func number(_ name: String) throws -> Double {
        guard let number = row[name]?.double else {
          throw UsageError("'\(file)' lacks '\(name)', which PostgreSQL on this machine counts")
        }
        return number
      }
      var one = MeasuredCase()
      one.servers = Int(try number("servers"))
      one.connections = connections * one.servers
      one.isPaced = row["isPaced"]?.bool ?? false
      one.hasSubscriptions = row["hasSubscriptions"]?.bool ?? true
      one.savesPerSecond = try number("savesPerSecond")
      one.commitsPerSave = try number("storeCommitsPerSave")
      one.catchUpsPerSave = try number("catchUpsPerSave")
      one.work = Cost(
        server: try number("serverProcessorMicrosecondsPerSave") / 1e6,
        database: try number("postgreSQLProcessorMicrosecondsPerSave") / 1e6,
        logBytes: try number("logBytesPerSave"))
      one.loadSeconds = try number("loadProcessorMicrosecondsPerSave") / 1e6
      one.flushSeconds = try number("flushMicroseconds") / 1e6
      one.saveMedian = try number("saveP50Milliseconds") / 1e3
      one.loggedMean = (row["loggedMeanMilliseconds"]?.double ?? .nan) / 1e3
      cases.append(one)
    }
  }

  /// Returns the costs of operations, computed from the calibration cases.
  ///
  /// - Throws: `UsageError` if one of these cases is missing.
  func costs() throws -> ScaleCosts {
    guard let costs = ScaleCosts(calibratedOn: cases) else {
      throw UsageError("the counts lack a case that the model is calibrated on")
    }
    return costs
  }
}
