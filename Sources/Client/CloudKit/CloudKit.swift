// Code written against Apple's module counts on these coming with it.
@_exported import CoreLocation
@_exported import Dispatch
@_exported import Foundation

// Petrel's own, which alerts are read with.
@_exported import struct StringTables.PetrelStrings
@_exported import struct StringTables.PetrelStringsError
