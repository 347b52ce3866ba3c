import Foundation

/// What a trial of crashes is to do.
struct CrashOptions {
  var kills = 100
  var seed = UInt64.random(in: 1...1_000_000)
  /// Lives of the server between two checks of the history.
  var livesPerEpoch = 20
  var engine = Installation.Engine.sqlite
  /// Seconds after which no new epoch begins; nil when only the kills count.
  var seconds: Double?
  /// Where `petrel` and the library of the failing disk lie.
  var programs = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  ).deletingLastPathComponent().path
  /// Where everything is kept; a folder of its own that goes away when all is well.
  var folder: String?
  var report: String?
  /// Syncs that do nothing, and all that was not synced lost: the trial must then find what is lost.
  var lies = false

  init(_ words: ArraySlice<String>) throws {
    var rest = words
    while let word = rest.popFirst() {
      func value() throws -> String {
        guard let value = rest.popFirst() else { throw TrialError("\(word) needs a value") }
        return value
      }
      func number() throws -> Int {
        let text = try value()
        guard let number = Int(text), number > 0 else {
          throw TrialError("\(word) needs a number, not '\(text)'")
        }
        return number
      }
      switch word {
      case "--kills": kills = try number()
      case "--seed": seed = UInt64(try number())
      case "--epoch": livesPerEpoch = try number()
      case "--minutes": seconds = Double(try number()) * 60
      case "--engine":
        let name = try value()
        guard let engine = Installation.Engine(rawValue: name) else {
          throw TrialError("--engine is sqlite or postgresql, not '\(name)'")
        }
        self.engine = engine
      case "--programs": programs = try value()
      case "--folder": folder = try value()
      case "--report": report = try value()
      case "--lying-disk": lies = true
      default: throw TrialError("unknown option '\(word)'")
      }
    }
    if seconds != nil { kills = .max }
  }
}
