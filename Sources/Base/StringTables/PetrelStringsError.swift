/// The error of a file or folder of an app's strings that cannot be used.
public struct PetrelStringsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of the file or folder.
  public let path: String
  /// The line of a text file, from 1. `nil` if the whole file is wrong, and for string catalogs.
  public let line: Int?
  /// The broken rule, and the place in the file if there is no line.
  public let rule: String

  public var description: String { path + (line.map { ":\($0)" } ?? "") + ": " + rule }
}
