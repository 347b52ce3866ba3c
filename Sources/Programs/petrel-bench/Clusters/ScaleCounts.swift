import CommandInterface
import Foundation
import JSONCoding
import ScaleModel

/// What `petrel-bench cluster --json` has measured, for the model.
struct ScaleCounts {
  var databases = 100
  var publicShare = 0.1
  var cores = 2
  var writers = 4
  var cases: [MeasuredCase] = []

  /// - Throws: ``UsageError`` for a file that has no such figures.
  init(file: String) throws {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw UsageError("'\(file)' cannot be read")
    }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: data)
    } catch {
      throw UsageError("'\(file)' is no JSON: \(error)")
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
      one.statementsPerSave = try number("statementsPerSave")
      one.commitsPerSave = try number("storeCommitsPerSave")
      one.logBytesPerSave = try number("logBytesPerSave")
      one.serverSeconds = try number("serverProcessorMicrosecondsPerSave") / 1e6
      one.postgreSQLSeconds = try number("postgreSQLProcessorMicrosecondsPerSave") / 1e6
      one.loadSeconds = try number("loadProcessorMicrosecondsPerSave") / 1e6
      one.commitSeconds = try number("commitMeanMilliseconds") / 1e3
      one.flushSeconds = try number("flushMicroseconds") / 1e6
      one.saveMedian = try number("saveP50Milliseconds") / 1e3
      one.loggedMean = (row["loggedMeanMilliseconds"]?.double ?? .nan) / 1e3
      cases.append(one)
    }
  }

  /// The costs by which the smallest cases come out as they were measured.
  func costs() throws -> ScaleCosts {
    guard let costs = ScaleCosts(calibratedOn: cases) else {
      throw UsageError("the counts lack a case that the model is calibrated on")
    }
    return costs
  }
}
