/// The error of a file or folder of an app's strings that cannot be used.
public struct PetrelStringsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of the file or folder.
  public let path: String
  /// The line in a `.strings` text file, from 1; `nil` if the error is about the whole file or
  /// folder, and for string catalogs.
  public let line: Int?
  /// The broken rule. If there is no line but the place in the file is known, the text begins with
  /// the place.
  public let rule: String

  public var description: String { path + (line.map { ":\($0)" } ?? "") + ": " + rule }
}
