/// A file of an app's strings that cannot be used.
public struct PetrelStringsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file or folder.
  public let path: String
  /// The line of a text file, from 1; nil where the whole file is wrong, and in a string catalog that
  /// is JSON but breaks a rule of catalogs.
  public let line: Int?
  /// What is wrong, and where in the file when there is no line.
  public let rule: String

  public var description: String { path + (line.map { ":\($0)" } ?? "") + ": " + rule }
}
