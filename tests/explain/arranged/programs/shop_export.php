<?php
// SPDX-License-Identifier: MIT
// Export the orders of a shop as one JSON document: php shop_export.php ORDERS
$count = (int) $argv[1];
fprintf(STDERR, "memory_limit=%s, php %s\n", ini_get('memory_limit'), PHP_VERSION);
$orders = [];
for ($number = 1; $number <= $count; $number++) {
    $orders[] = ['number' => $number, 'customer' => md5((string) $number), 'lines' => array_fill(0, 6, ['article' => $number % 977, 'pieces' => 1 + $number % 4])];
    if ($number % 20000 === 0) {
        fprintf(STDERR, "%d orders, %.1f MB\n", $number, memory_get_usage() / 1e6);
    }
}
$json = json_encode($orders);
printf("%d bytes\n", strlen($json));
