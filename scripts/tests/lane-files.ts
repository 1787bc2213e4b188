/** Where a process of a lane finds its files, as JSON: an array of absolute paths. */
export const FILES_VARIABLE = 'GATEHOUSE_TEST_FILES';
