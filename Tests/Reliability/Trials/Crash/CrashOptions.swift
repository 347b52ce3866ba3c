import Foundation

/// The options of the crash test.
struct CrashOptions {
  var kills = 100
  var seed = UInt64.random(in: 1...1_000_000)
  /// Lives of the server between two checks of the history.
  var livesPerEpoch = 20
  var engine = Installation.Engine.sqlite
  /// Seconds after which no new epoch begins; nil when only the kills count.
  var seconds: Double?
  /// Where `petrel` and the library of the failing disk lie.
  var programs = RunningProgram.ownFolder
  /// Where everything is kept; a folder of its own that goes away when all is well.
  var folder: String?
  var report: String?
  /// The fault that is built in on purpose: the test must find it.
  var sabotage: Sabotage?
  /// The one strike that there is; all of them when nil.
  var strike: String?

  init(_ words: ArraySlice<String>) throws {
    var options = TrialOptions(words)
    while let word = options.next() {
      switch word {
      case "--kills": kills = try options.number(of: word)
      case "--seed": seed = UInt64(try options.number(of: word))
      case "--epoch": livesPerEpoch = try options.number(of: word)
      case "--minutes": seconds = Double(try options.number(of: word)) * 60
      case "--engine": engine = try Installation.Engine(option: options.value(of: word))
      case "--programs": programs = try options.value(of: word)
      case "--folder": folder = try options.value(of: word)
      case "--report": report = try options.file(of: word)
      case "--lying-disk": sabotage = .lyingDisk
      case "--damaged-file": sabotage = .damagedFile
      case "--removal-taken-back": sabotage = .removalTakenBack
      case "--strike": strike = try options.value(of: word)
      default: throw TrialError("unknown option '\(word)'")
      }
    }
    if seconds != nil { kills = .max }
  }
}
